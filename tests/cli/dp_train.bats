#!/usr/bin/env bats
# shards: 9
# train --dp-sgd from the outside: certificate, ledger, kill and resume, messages, exit codes.

bats_require_minimum_version 1.5.0

setup() {
  dir=$(mktemp -d)
  cd "$dir"
  export XDG_DATA_HOME="$dir/home"
  # budgets are small here, as accounts of much noise take little time
  common=(--data synthetic-images-n64 --hidden 4,8 --batch 16 --seed 3 --dtype f32 --backend dnnl --threads 2 --quiet --dp-sgd)
}
teardown() { cd /; rm -rf "$dir"; }

@test "a private model comes with a certificate that its file and ledger agree with" {
  run "$SOTTO" train "${common[@]}" --epsilon 0.5 --epochs 2 --ledger l.jsonl -o m.safetensors
  [ "$status" -eq 0 ]
  [[ "$output" == *"m.safetensors: gaussian noise of scale "*"(0.5, 0.001)-differentially private under replace-one adjacency (epsilon "*" under zero-out)"* ]] || { echo "$output"; false; }
  [ ! -e m.safetensors.checkpoint ]
  "$SOTTO" account --verify m.safetensors.certificate.json --ledger l.jsonl
  run -0 "$SOTTO" inspect m.safetensors
  [[ "$output" == *"trainer=dp-sgd"* ]]
  [[ "$output" != *"data_sha256"* ]]
  "$SOTTO" predict --model m.safetensors --data synthetic-images-n64 -o p.npy
  printf x >> m.safetensors
  run "$SOTTO" account --verify m.safetensors.certificate.json
  [ "$status" -eq 1 ]
}

@test "budgets count replaced records: a target fits its own budget, and zero-out is asked for by name" {
  "$SOTTO" train "${common[@]}" --epsilon 0.3 --budget-epsilon 0.3 --epochs 1 --ledger own.jsonl -o m.safetensors
  run "$SOTTO" train "${common[@]}" --epsilon 0.3 --budget-epsilon 0.3 --epochs 1 --ledger other.jsonl --adjacency zero-out -o z.safetensors
  [ "$status" -eq 77 ]
  [[ "$output" == *"the privacy budget (epsilon 0.3, "* ]]
  run "$SOTTO" train "${common[@]}" --epsilon 0.3 --epochs 1 --ledger third.jsonl --adjacency add-remove -o z.safetensors
  [[ "$output" == *"(0.3, 0.001)-differentially private under zero-out adjacency (epsilon "*" under replace-one)"* ]] || { echo "$output"; false; }
  "$SOTTO" account --verify z.safetensors.certificate.json --ledger third.jsonl
  run "$SOTTO" train "${common[@]}" --epsilon 0.3 --epochs 1 --sampling fixed --adjacency zero-out -o f.safetensors
  [ "$status" -eq 64 ]
  [[ "$output" == *"this trainer supports replace-one only (DP-SGD with --sampling poisson supports both)"* ]]
}

@test "the calculator keeps add-remove for sampled steps and prints replace-one beside it" {
  run "$SOTTO" account --mechanism gaussian --noise-multiplier 1.1 --sample-rate 0.01 --steps 1000 --delta 1e-5
  [[ "$output" == *", add-remove"*"under replace-one: at most "* ]]
  run "$SOTTO" account --mechanism gaussian --noise-multiplier 1.1 --sample-rate 0.01 --steps 1000 --delta 1e-5 --json
  [[ "$output" == *'"adjacency": "add-remove"'*'"other": {'*'"adjacency": "replace-one"'* ]]
  run "$SOTTO" account --mechanism logistic --noise-multiplier 1.1 --sample-rate 0.01 --steps 1000 --delta 1e-5 --adjacency replace-one
  [[ "$output" == *"bounded as a group of two"* ]]
}

@test "the certificate is the only thing that --json prints" {
  run "$SOTTO" train "${common[@]}" --noise logistic --noise-multiplier 1 --steps 3 --insecure-noise-seed 1 -o m.safetensors --json
  [ "$status" -eq 0 ]
  [[ "$output" == '{'*'"schema": "sotto.certificate/2"'*'seeded'* ]]
  [[ "$output" != *accuracy* ]]
}

@test "batches of a fixed size are certified for a replaced record" {
  run "$SOTTO" train "${common[@]}" --epsilon 0.5 --epochs 2 --sampling fixed --ledger l.jsonl -o m.safetensors
  [ "$status" -eq 0 ]
  [[ "$output" == *"(0.5, 0.001)-differentially private under replace-one adjacency"* ]] || { echo "$output"; false; }
  "$SOTTO" account --verify m.safetensors.certificate.json --ledger l.jsonl
  [[ "$("$SOTTO" inspect m.safetensors)" == *"sampling=fixed"* ]]
  run "$SOTTO" account --mechanism gaussian --noise-multiplier 1 --sample-rate 0.1 --steps 10 --delta 1e-5 --sampling fixed --adjacency add-remove
  [ "$status" -eq 65 ] || [ "$status" -eq 64 ]
  [[ "$output" == *"fixed sampling needs replace-one adjacency; give replace-one, or poisson sampling"* ]]
}

@test "a killed run continues and is charged again; a changed byte of its checkpoint is refused and charges nothing" {
  long=("${common[@]}" --noise-multiplier 9 --steps 300 --ledger l.jsonl)
  "$SOTTO" train "${long[@]}" -o m.safetensors &
  pid=$!
  for _ in $(seq 200); do [ -s m.safetensors.checkpoint ] && break; sleep 0.05; done
  kill -9 $pid
  wait $pid || true
  [ "$(grep -c '"event":"reserve"' l.jsonl)" -eq 1 ]
  cp m.safetensors.checkpoint whole
  cp l.jsonl before.jsonl
  middle=$(($(stat -c %s whole) / 2)) # a byte of a weight or moment
  byte=$(od -An -tu1 -j $middle -N 1 whole)
  printf "\\$(printf %o $((byte ^ 4)))" | dd of=m.safetensors.checkpoint bs=1 seek=$middle conv=notrunc status=none
  cp m.safetensors.checkpoint changed
  run "$SOTTO" train "${long[@]}" -o m.safetensors
  [ "$status" -eq 65 ]
  [[ "${lines[0]}" == *"m.safetensors.checkpoint: does not match its checksum, so it was damaged or changed after it was written" ]] || { echo "$output"; false; }
  [[ "${lines[1]}" == *"what was charged stays charged"* ]] || { echo "$output"; false; }
  cmp l.jsonl before.jsonl
  cmp m.safetensors.checkpoint changed
  [ ! -e m.safetensors ]
  [ ! -e m.safetensors.checkpoint.resumes ]
  cp whole m.safetensors.checkpoint
  run "$SOTTO" train "${long[@]}" -o m.safetensors --json
  [ "$status" -eq 0 ]
  [ "$(grep -c '"event":"reserve"' l.jsonl)" -eq 2 ]
  [[ "$output" != *'"charged": 300,'* ]]
}

@test "noise for a risk: DP-SGD and noisy inputs keep it, and say so" {
  run -0 "$SOTTO" train "${common[@]}" --epochs 1 --max-tpr 0.02@0.01 --ledger l.jsonl -o m.safetensors
  [[ "${lines[-1]}" == "any test of membership: true-positive rate at most 0.02 at false-positive rate 0.01" ]] || { echo "$output"; false; }
  "$SOTTO" account --verify m.safetensors.certificate.json --ledger l.jsonl
  run -0 "$SOTTO" train "${common[@]}" --epochs 1 --adjacency zero-out --max-advantage 0.5 --ledger l.jsonl -o m.safetensors
  [[ "${lines[-1]}" == "any test of membership: true-positive rate at most 0.5 above the false-positive rate" ]] || { echo "$output"; false; }
  inputs=(--data synthetic-images-n64 --hidden 4,8 --batch 16 --epochs 1 --certify-inputs --radius 5 --quiet)
  run -0 "$SOTTO" train "${inputs[@]}" --max-tpr 0.02@0.01 --ledger l.jsonl -o i.safetensors
  [[ "${lines[-1]}" == "any test of membership: true-positive rate at most 0.02 at false-positive rate 0.01" ]] || { echo "$output"; false; }
  lines_before=$(wc -l < l.jsonl)
  run "$SOTTO" train "${inputs[@]}" --max-tpr 0.02@0.01 --label-epsilon 1 --ledger l.jsonl -o j.safetensors
  [ "$status" -eq 65 ]
  [[ "$output" == *"a risk is that of one release, and labels would be another one; give a target epsilon"* ]]
  run "$SOTTO" train "${inputs[@]}" --max-tpr 0.02@0.01 --epsilon 1 --ledger l.jsonl -o j.safetensors
  [ "$status" -ne 0 ]
  [[ "$output" == *"max_tpr and max_advantage stand instead of epsilon and of the noise; give one of them"* ]]
  run "$SOTTO" train --data synthetic-images-n64 --hidden 4,8 --max-tpr 0.02@0.01 --quiet -o j.safetensors
  [ "$status" -eq 64 ]
  [[ "$output" == *"train: --max-tpr needs --dp-sgd or --certify-inputs; plain training makes no certificate"* ]]
  [ "$(wc -l < l.jsonl)" -eq "$lines_before" ]
  [ ! -e j.safetensors ]
}

@test "what cannot be private is refused in one line" {
  refused() { # code, text, options
    local code=$1 text=$2; shift 2
    run "$SOTTO" train "$@" -o m.safetensors
    [ "$status" -eq "$code" ] || { echo "$status $output"; false; }
    [ "${#lines[@]}" -le 2 ]
    [[ "$output" == *"$text"* ]] || { echo "$output"; false; }
    [ ! -e m.safetensors ]
  }
  data=(--data synthetic-images-n64 --quiet)
  refused 64 "give exactly one of --noise-multiplier, --epsilon, --max-tpr and --max-advantage" "${data[@]}" --dp-sgd
  refused 64 "train: --noise needs --dp-sgd; plain training makes no certificate" "${data[@]}" --noise gaussian
  refused 64 "--sampling must be poisson or fixed (got 'shuffled')" "${data[@]}" --dp-sgd --noise-multiplier 1 --sampling shuffled
  refused 64 "give --steps or --epochs, not both" "${data[@]}" --dp-sgd --noise-multiplier 1 --steps 3 --epochs 2
  refused 69 "use group norm" "${data[@]}" --dp-sgd --noise-multiplier 1 --model resnet8
  refused 69 "bf16" "${data[@]}" --dp-sgd --noise-multiplier 1 --dtype bf16
  refused 77 "budget" "${common[@]}" --noise-multiplier 9 --budget-epsilon 0.1 --budget-delta 1e-5
}

@test "classes are public: given, or those of a registered set; a row counts once" {
  npy() { # FILE DTYPE SHAPE < bytes
    local header="{'descr': '$2', 'fortran_order': False, 'shape': ($3), }"
    { printf '\x93NUMPY\x01\x00\x76\x00'; printf '%-117s\n' "$header"; cat; } > "$1"
  }
  refused() { # code, text, options
    local code=$1 text=$2; shift 2
    run "$SOTTO" train --model mlp --hidden 3 --batch 4 --epochs 1 --quiet --dp-sgd --noise-multiplier 1 --ledger l.jsonl -o m.safetensors "$@"
    [ "$status" -eq "$code" ] || { echo "$status $output"; false; }
    [ "${#lines[@]}" -eq 1 ]
    [[ "$output" == *"$text"* ]] || { echo "$output"; false; }
    [ ! -e m.safetensors ]
    [ ! -e l.jsonl ]
  }
  mkdir own
  head -c 96 /dev/zero | npy own/features.npy '<f4' '12, 2'
  printf '\x00\x01\x00\x01\x00\x01\x00\x01\x00\x01\x00\x02' | npy own/labels.npy '|u1' '12,'
  printf 'x,label\n1,no\n2,yes\n3,no\n4,yes\n5,no\n6,maybe\n' > named.csv
  refused 64 "train: --dp-sgd and --certify-inputs need an imported data set, as errors while reading" --data own --classes 2
  "$SOTTO" data import own --name own --quiet
  "$SOTTO" data import named.csv --name named --label last --quiet
  refused 64 "data set 'own': its classes were derived from its records, so they are not public; give --classes K, or --classes FILE with one name a line" --data own
  refused 64 "train: the class numbers of 'named' were derived from its records at import, so they are not public; give --classes FILE with one name a line" --data named --classes 3
  refused 65 "has no labels, or fewer than 2 classes; expected at least 2" --data own --classes 1
  printf '\x03\x01\x04\x01\x05' | npy twice.npy '|u1' '5,'
  refused 65 "row 1 is listed twice (entries 1 and 3); expected each record once" --data own --classes 2 --indices twice.npy
  train() { "$SOTTO" train --model mlp --hidden 3 --batch 4 --epochs 1 --quiet --dp-sgd --noise-multiplier 9 -o m.safetensors "$@"; }
  train --data own --classes 2 # the label 2 counts as nothing
  [[ "$("$SOTTO" inspect m.safetensors)" == *"classes: 2"* ]]
  grep -A 2 '"classes": {' m.safetensors.certificate.json | grep -q '"given_by": "--classes"'
  printf 'no\nyes\nperhaps\nnever\n' > names.txt
  train --data named --classes names.txt
  [[ "$("$SOTTO" inspect m.safetensors)" == *"classes: 4"* ]]
  train --data synthetic-images-n64
  grep -A 2 '"classes": {' m.safetensors.certificate.json | grep -q "registered data set's description"
}
