#!/usr/bin/env bats
# shards: 3
# A private training that a limit of time stops costs the steps that it took, and the same command continues inside the budget.

load ../support/npy
load ../support/verifier

setup() {
  cd "$BATS_TEST_TMPDIR"
  export XDG_DATA_HOME="$PWD/data"
  "$python" -c 'import random, struct
draw = random.Random(1)
open("x", "wb").write(struct.pack("<128000f", *(draw.gauss(0, 1) for _ in range(128000))))
open("y", "wb").write(struct.pack("<2000q", *(draw.randrange(2) for _ in range(2000))))'
  npy X.npy "<f4" "2000, 64" < x
  npy y.npy "<i8" "2000," < y
  "$SOTTO" ledger init --dataset-id toy --budget 2.2,1e-5 > /dev/null
  # some 4 s of one core, in steps that are all alike
  command=("$SOTTO" head --features X.npy --labels y.npy --classes 2 --hidden 128 --trainer dp-adam --batch 64 --epochs 2000 --epsilon 2 --delta 1e-5 --dataset-id toy --threads 1 --quiet -o h.safetensors)
}

total() { "$SOTTO" ledger show --dataset-id "${1:-toy}" --json | "$python" -c "import json, sys; print(json.load(sys.stdin)[\"total\"])"; }
less() { "$python" -c 'import sys; sys.exit(not float(sys.argv[1]) < float(sys.argv[2]))' "$1" "$2"; }

@test "a head that a limit of time stops costs what was done, and goes on inside the budget" {
  for later in 0 1 2 4 8; do # a busy machine may not have charged before the clock strikes
    SLURM_JOB_END_TIME=$(($(date +%s) + later)) run "${command[@]}"
    [ "$status" -eq 130 ] || { echo "$status $output"; false; }
    [[ "$output" != *"was charged"* ]] || break
  done
  [[ "$output" == *"the job's time is nearly over"*"was charged: "*"; the same command continues"* ]] || { echo "$output"; false; }
  less "$(total)" 1.9
  [[ "$("$SOTTO" ledger show --dataset-id toy)" == *"(settled: "*" steps)"* ]]
  "$python" "$cases" "$verifier" settlements "$SOTTO" "$XDG_DATA_HOME/sotto/ledger/toy.jsonl"
  "${command[@]}" > /dev/null
  less "$(total)" 2.000001
  ledger="$XDG_DATA_HOME/sotto/ledger/toy.jsonl"
  "$SOTTO" verify h.safetensors --ledger "$ledger" > /dev/null
  run "$python" "$verifier" h.safetensors --ledger "$ledger"
  [[ "$output" == *"ledger's chain is whole and holds this release"* ]] || { echo "$output"; false; }
}

@test "one that is stopped by hand costs what it reserved, also with the signal of the clock" {
  SLURM_JOB_END_TIME=$(($(date +%s) + 9000)) "${command[@]}" 2> log 3>&- &
  for _ in $(seq 100); do [ -s h.safetensors.checkpoint ] || [ "$(total)" = 0.0 ] || break; sleep 0.1; done
  sleep 0.3
  kill -ALRM $!
  status=0
  wait $! || status=$?
  [ "$status" -eq 130 ] || { echo "$status"; cat log; false; }
  less 1.999 "$(total)"
  run "${command[@]}"
  [ "$status" -eq 77 ]
  [[ "$output" == *"would be exceeded: spent 2, with this release 2."* ]]
}

@test "so it is with a network" {
  "$SOTTO" ledger init --dataset-id synthetic-blobs-n2000 --budget 2.2,1e-5 > /dev/null
  command=("$SOTTO" train --data synthetic-blobs-n2000 --model mlp --hidden 64 --dp-sgd --steps 20000 --batch 200 --epsilon 2 --delta 1e-5 --threads 1 --quiet -o t.safetensors)
  SLURM_JOB_END_TIME=$(date +%s) run "${command[@]}"
  [ "$status" -eq 130 ] || { echo "$status $output"; false; }
  shown=$("$SOTTO" ledger show --dataset-id synthetic-blobs-n2000)
  [[ "$shown" == *"(settled: "*" steps)"* ]] || { echo "$shown"; false; }
  less "$(total synthetic-blobs-n2000)" 1.9
  SLURM_JOB_END_TIME=$(($(date +%s) + 2)) run "${command[@]}" --time-left 1 # it goes on, and may be stopped again
  [ "$status" -eq 130 ] || [ "$status" -eq 0 ] || { echo "$status $output"; false; }
}
