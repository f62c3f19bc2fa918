#!/usr/bin/env bats
# train --dp-sgd from the outside: certificate, ledger, kill and resume, messages, exit codes.

setup() {
  dir=$(mktemp -d)
  cd "$dir"
  export XDG_DATA_HOME="$dir/home"
  common=(--data synthetic-images-n64 --hidden 4,8 --batch 16 --seed 3 --threads 2 --quiet --dp-sgd --noise-mode fast)
}
teardown() { cd /; rm -rf "$dir"; }

@test "a private model comes with a certificate that its file and ledger agree with" {
  run "$SOTTO" train "${common[@]}" --target-epsilon 5 --epochs 2 --ledger l.jsonl -o m.safetensors
  [ "$status" -eq 0 ]
  [[ "$output" == *"m.safetensors: gaussian noise of scale "*"proved: none; conditional on float sums that one record moves by at most C in a step (measured, not proved): epsilon 5 at delta 1e-05 under add-remove adjacency"* ]] || { echo "$output"; false; }
  [ ! -e m.safetensors.checkpoint ]
  "$SOTTO" account --verify m.safetensors.certificate.json --ledger l.jsonl
  [[ "$("$SOTTO" inspect m.safetensors)" == *"trainer=dp-sgd"* ]]
  [[ "$("$SOTTO" inspect m.safetensors)" != *"data_sha256"* ]]
  "$SOTTO" predict --model m.safetensors --data synthetic-images-n64 -o p.npy
  printf x >> m.safetensors
  run "$SOTTO" account --verify m.safetensors.certificate.json
  [ "$status" -eq 1 ]
}

@test "the certificate is the only thing that --json prints" {
  run "$SOTTO" train "${common[@]}" --noise logistic --noise-multiplier 1 --steps 3 --insecure-noise-seed 1 -o m.safetensors --json
  [ "$status" -eq 0 ]
  [[ "$output" == '{'*'"schema": "sotto.certificate/2"'*'seeded'* ]]
  [[ "$output" != *accuracy* ]]
}

@test "batches of a fixed size are certified for a replaced record" {
  run "$SOTTO" train "${common[@]}" --target-epsilon 5 --epochs 2 --sampling fixed --ledger l.jsonl -o m.safetensors
  [ "$status" -eq 0 ]
  [[ "$output" == *"conditional on float sums "*": epsilon 5 at delta 1e-05 under replace-one adjacency"* ]] || { echo "$output"; false; }
  "$SOTTO" account --verify m.safetensors.certificate.json --ledger l.jsonl
  [[ "$("$SOTTO" inspect m.safetensors)" == *"sampling=fixed"* ]]
  run "$SOTTO" account --mechanism gaussian --noise-multiplier 1 --sample-rate 0.1 --steps 10 --delta 1e-5 --sampling fixed --adjacency add-remove
  [ "$status" -eq 65 ] || [ "$status" -eq 64 ]
  [[ "$output" == *"expected replace-one adjacency, or poisson sampling"* ]]
}

@test "a killed run goes on and is charged again" {
  long=("${common[@]}" --noise-multiplier 2 --steps 300 --ledger l.jsonl)
  "$SOTTO" train "${long[@]}" -o m.safetensors &
  pid=$!
  for _ in $(seq 200); do [ -s m.safetensors.checkpoint ] && break; sleep 0.05; done
  kill -9 $pid
  wait $pid || true
  [ "$(grep -c '"event":"reserve"' l.jsonl)" -eq 1 ]
  run "$SOTTO" train "${long[@]}" -o m.safetensors --json
  [ "$status" -eq 0 ]
  [ "$(grep -c '"event":"reserve"' l.jsonl)" -eq 2 ]
  [[ "$output" != *'"charged": 300,'* ]]
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
  refused 64 "give exactly one of --noise-multiplier and --target-epsilon" "${data[@]}" --dp-sgd
  refused 64 "--noise belongs to --dp-sgd" "${data[@]}" --noise gaussian
  refused 65 "expected poisson or fixed" "${data[@]}" --dp-sgd --noise-multiplier 1 --sampling shuffled
  refused 64 "give --steps or --epochs, not both" "${data[@]}" --dp-sgd --noise-multiplier 1 --steps 3 --epochs 2
  refused 69 "use group norm" "${data[@]}" --dp-sgd --noise-multiplier 1 --model resnet8
  refused 69 "bf16" "${data[@]}" --dp-sgd --noise-multiplier 1 --dtype bf16
  refused 77 "budget" "${common[@]}" --noise-multiplier 0.5 --budget-epsilon 0.1 --budget-delta 1e-5
}
