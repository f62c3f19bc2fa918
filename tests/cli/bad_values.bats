#!/usr/bin/env bats
# Invalid values of numeric options through the program, a sample of each verb: one line on stderr, exit 64 (not a number) or 65 (no
# value it can have), nothing on stdout, no file. tests/unit/options/test_bad_values.c has every option and every value.

setup() {
  dir=$(mktemp -d)
  cd "$dir"
  export XDG_DATA_HOME=$dir/data
  { printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }"
    printf '\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'; } > v.npy
}
teardown() { rm -rf "$dir"; }

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

@test "the unchanged commands of this file are accepted" {
  "$SOTTO" "${release[@]}"
  "$SOTTO" "${training[@]}"
  "$SOTTO" "${saving[@]}"
  [ -e out.npy ]
}

# wrong CODE OPTION=VALUE WORD...: instead of the command's own value
wrong() {
  local code=$1 option=${2%%=*} value=${2#*=} words
  shift 2
  mapfile -t words < <(without "$option" "$@")
  verdict "$code" "$option" "$value" "$SOTTO" "${words[@]}"
}

@test "a sample of each verb is refused, in one line and without a file" {
  wrong 64 scale=nan "${release[@]}"
  wrong 65 l1=1e400 "${release[@]}"
  wrong 64 compose=1e3 "${release[@]}"
  wrong 65 sample-rate=1.5 "${training[@]}"
  wrong 64 "steps=" "${training[@]}"
  wrong 64 "delta=1 2" account --choose --epsilon=1 --l1=1 --l2=1
  wrong 65 budget-epsilon=-1 "${saving[@]}"
  wrong 64 records=+1 "${saving[@]}"
  wrong 65 classes=1 protect --vector=v.npy --mechanism=randomised-response --dataset-id=toy --output=out.npy --epsilon=1 --l1=1
  wrong 64 repeats=0 predict --model=none.safetensors --features=v.npy --output=out.npy
  wrong 64 grid=-1 embed --encoder=scattering --data=none --output=out.npy
}
