#!/usr/bin/env bats
# The stand-alone verifier's own account of sampled steps (DP-SGD), beside that of the program.
# shards: 2

load ../support/verifier
load ../support/effort

@test "curves in whole numbers: exp, ln, the normal distribution, one step, a finer grid, every record in each step" {
  "$python" "$cases" "$verifier" curves
}

@test "epsilon of steps: never below the program's, at most 1 % above; of more noise, a smaller rate, fewer steps or a larger delta: refused" {
  "$python" "$cases" "$verifier" steps "$SOTTO" "$(by_effort 2 8 20)"
}

@test "certificates of runs: re-derived under both adjacencies; with a smaller epsilon refused; beyond the limits not decided" {
  head_by dp-sgd --batch 8 --epochs 2
  head_by dp-gd --steps 20
  XDG_DATA_HOME=$PWD/person "$SOTTO" head --features x.npy --labels y.npy --classes 2 --dataset-id person --ledger person.jsonl --trainer dp-sgd --batch 8 --epochs 2 \
    --epsilon 0.1 --rows-per-person 2 --quiet -o person.safetensors > /dev/null
  "$python" "$cases" "$verifier" runs "$SOTTO" dp-sgd.safetensors dp-gd.safetensors person.safetensors
}
