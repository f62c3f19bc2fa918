#!/usr/bin/env bats
# Every numeric option of account and protect with every invalid value: one line on stderr, exit 64 (not a
# number) or 65 (no value it can have), nothing on stdout, no file.

setup() {
  dir=$(mktemp -d)
  cd "$dir"
  export XDG_DATA_HOME=$dir/data
  { printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }"
    printf '\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'; } > v.npy
}
teardown() { rm -rf "$dir"; }

not_numbers=(nan -nan abc '' 1x 1,5 '1 2')
not_counts=(-1 -0 1.5 1e3 0x10 nan inf abc '' +1 99999999999999999999)
not_positive=(-1 -0 0 inf -inf 1e-320 -1e-320 5e-324 1e300 1e400 -1e300)

# verdict CODE OPTION VALUE COMMAND...
verdict() {
  local code=$1 option=$2 value=$3 status=0
  shift 3
  "$@" "--$option=$value" > out.txt 2> err.txt || status=$?
  if [ "$status" -ne "$code" ] || [ -s out.txt ] || [ "$(wc -l < err.txt)" -ne 1 ] || ! grep -q '^sotto: error: ' err.txt ||
     [ -e out.npy ] || [ -e out.npy.certificate.json ] || [ -e data ]; then
    echo "--$option=$value: exit $status, expected $code; $(cat out.txt err.txt); $(ls)"
    return 1
  fi
}

# refused OPTION KIND COMMAND...: KIND is real, or count
refused() {
  local option=$1 kind=$2 value
  shift 2
  if [ "$kind" = count ]; then
    for value in "${not_counts[@]}"; do verdict 64 "$option" "$value" "$@"; done
    return
  fi
  for value in "${not_numbers[@]}"; do verdict 64 "$option" "$value" "$@"; done
  for value in "${not_positive[@]}"; do
    case "$option:$value" in
      delta:0 | delta:-0 | budget-delta:0 | budget-delta:-0 | value-step:0 | value-step:-0) continue ;; # none
    esac
    verdict 65 "$option" "$value" "$@"
  done
}

# without OPTION WORD...: prints the words but for that option's
without() {
  local option=$1 word
  shift
  for word in "$@"; do case "$word" in "--$option="*) ;; *) printf '%s\n' "$word" ;; esac; done
}

release=(account --mechanism=discrete-laplace --scale=4 --l1=1 --l2=1 --dimension=2 --value-step=1 --delta=1e-5 --compose=2)
training=(account --mechanism=gaussian --noise-multiplier=1 --sample-rate=0.1 --steps=3 --delta=1e-5)
saving=(protect --vector=v.npy --mechanism=discrete-laplace --dataset-id=toy --output=out.npy --scale=4 --l1=1 --l2=1 --value-step=1
        --delta=1e-5 --records=10 --budget-epsilon=9 --budget-delta=1e-5)

# every OPTION KIND WORD...: refused() with the other words
every() {
  local option=$1 kind=$2 words
  shift 2
  mapfile -t words < <(without "$option" "$@")
  refused "$option" "$kind" "$SOTTO" "${words[@]}"
}

@test "the unchanged commands of this file are accepted" {
  "$SOTTO" "${release[@]}"
  "$SOTTO" "${training[@]}"
  "$SOTTO" "${saving[@]}"
  [ -e out.npy ]
}

@test "account of a release" {
  for option in scale l1 l2 value-step delta; do every $option real "${release[@]}"; done
  for option in dimension compose; do every $option count "${release[@]}"; done
  verdict 65 compose 0 "$SOTTO" $(without compose "${release[@]}")
  verdict 65 delta 1 "$SOTTO" $(without delta "${release[@]}")
  verdict 65 value-step 3 "$SOTTO" $(without value-step "${release[@]}")
  refused epsilon real "$SOTTO" $(without scale "${release[@]}")
}

@test "account of training" {
  for option in noise-multiplier sample-rate; do every $option real "${training[@]}"; done
  every steps count "${training[@]}"
  mapfile -t words < <(without delta "${training[@]}")
  for value in -1 0 -0 1 inf 1e-320 1e300; do verdict 65 delta $value "$SOTTO" "${words[@]}"; done # sampled: no pure epsilon
  verdict 65 steps 0 "$SOTTO" $(without steps "${training[@]}")
  verdict 65 steps 9999999999999999999 "$SOTTO" $(without steps "${training[@]}")
  verdict 65 sample-rate 1.5 "$SOTTO" $(without sample-rate "${training[@]}")
  refused epsilon real "$SOTTO" $(without noise-multiplier "${training[@]}")
}

@test "account: the chooser" {
  choice=(account --choose --epsilon=1 --delta=1e-5 --l1=1 --l2=1 --compose=2 --dimension=2 --value-step=1)
  for option in epsilon l1 l2 value-step delta; do every $option real "${choice[@]}"; done
  for option in compose dimension; do every $option count "${choice[@]}"; done
}

@test "protect" {
  for option in scale l1 l2 value-step delta budget-epsilon budget-delta; do every $option real "${saving[@]}"; done
  every records count "${saving[@]}"
  refused epsilon real "$SOTTO" $(without scale "${saving[@]}")
  refused insecure-noise-seed count "$SOTTO" "${saving[@]}"
  labels=(protect --vector=v.npy --mechanism=randomised-response --dataset-id=toy --output=out.npy --epsilon=1 --l1=1)
  refused classes count "$SOTTO" "${labels[@]}"
  for value in 0 1; do verdict 65 classes $value "$SOTTO" "${labels[@]}"; done
}

@test "predict and embed" {
  answers=(predict --model=none.safetensors --features=v.npy --output=out.npy)
  for option in repeats seed; do refused $option count "$SOTTO" "${answers[@]}"; done
  verdict 64 repeats 0 "$SOTTO" "${answers[@]}"
  for value in mean '' logit 'logits|softmax'; do verdict 64 average "$value" "$SOTTO" "${answers[@]}"; done
  for option in groups grid; do refused $option count "$SOTTO" embed --encoder=scattering --data=none --output=out.npy; done
}
