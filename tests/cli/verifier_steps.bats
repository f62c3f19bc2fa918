#!/usr/bin/env bats
# The stand-alone verifier's own account of sampled steps (DP-SGD) and of whole ledgers, beside that of the program.
# shards: 4

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

@test "totals of ledgers: composed from facts, between the ends of the program's, at most 1 % above; what is not decided is named" {
  for epsilon in 0.1 0.1 0.3; do protect mixed --vector v.npy --mechanism laplace --epsilon $epsilon --l1 0.01; done
  protect mixed --vector v.npy --mechanism gaussian --epsilon 0.5 --delta 1e-6 --l2 0.01
  protect mixed --vector y.npy --mechanism randomised-response --epsilon 0.7 --delta 1e-6 --classes 2 --l1 1
  protect mixed --vector v.npy --mechanism exponential --epsilon 0.4 --delta 1e-6 --l1 0.5
  protect mixed --vector v.npy --mechanism logistic --epsilon 0.4 --delta 1e-6 --l1 0.01
  protect whole --vector w.npy --mechanism discrete-laplace --epsilon 0.7 --delta 1e-6 --l1 3 --l2 2
  protect whole --vector v.npy --mechanism gaussian --epsilon 0.5 --delta 1e-6 --l2 0.01
  protect stated --table y.npy --statistic most-frequent --mechanism propose-test-release --classes 2 --epsilon 0.2 --delta 1e-8
  protect stated --vector v.npy --mechanism gaussian --epsilon 0.5 --delta 1e-6 --l2 0.01
  protect pure --vector v.npy --mechanism laplace --epsilon 0.2 --l1 0.01
  head_by dp-sgd --batch 8 --epochs 2 --delta 1e-6
  protect dp-sgd --vector v.npy --mechanism laplace --epsilon 0.05 --l1 0.01
  plan_of_runs
  "$python" "$cases" "$verifier" totals "$SOTTO" mixed.jsonl whole.jsonl stated.jsonl pure.jsonl dp-sgd.jsonl plan.jsonl
  XDG_DATA_HOME=$PWD/l2 "$SOTTO" head --features x.npy --labels y.npy --classes 2 --dataset-id l2 --ledger l2.jsonl --trainer dp-sgd --batch 8 --epochs 1 --noise logistic --epsilon 0.1 --quiet -o l2.safetensors > /dev/null
  refused 2 "together NOT decided: this program has no curve of line 2 (head by DP-SGD); sums of what 1 charges recorded" --total l2.jsonl
}
