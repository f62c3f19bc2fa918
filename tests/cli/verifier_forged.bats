#!/usr/bin/env bats
# shards: 3
# The stand-alone verifier in Python's standard library, beside 'sotto verify': both say the same of forged bundles.

load ../support/verifier

@test "ten kinds of forgery, unsigned and signed: refused, or answered with NOT signed" {
  mkdir forgeries
  SOTTO_FORGERIES=$PWD/forgeries "$SOTTO_BUILD/test_dp" --only forgery > /dev/null 2>&1
  "$python" "$cases" "$verifier" forgeries forgeries
}

@test "boxes of any order that are too small for their releases, and columns that are too large: refused" {
  for i in 1 2; do
    protect pure --vector v.npy --mechanism laplace --epsilon 0.3 --l1 0.01
    protect pair --vector v.npy --mechanism logistic --epsilon 0.3 --delta 1e-5 --l2 0.01
    protect gaussian --vector v.npy --mechanism gaussian --epsilon 0.3 --delta 1e-9 --l2 0.01
  done
  protect labels --vector y.npy --mechanism randomised-response --epsilon 0.7 --delta 1e-4 --classes 2 --l1 1
  protect whole --vector w.npy --mechanism discrete-laplace --epsilon 0.7 --delta 1e-4 --l1 3 --l2 2
  protect knorm --vector v.npy --mechanism knorm --epsilon 0.7 --delta 1e-5 --l2 0.01
  protect choice --vector v.npy --mechanism exponential --epsilon 0.7 --delta 1e-3 --l1 0.5
  "$python" "$cases" "$verifier" offers "$SOTTO" {pure,pair,gaussian,labels,whole,knorm,choice}.jsonl
}

@test "so it is with stated pairs, doubts and runs; curves of runs are said not to be derived" {
  protect stated --vector v.npy --mechanism gaussian --epsilon 0.997 --delta 9e-6 --l2 0.01 --budget-epsilon 1 --budget-delta 1e-5
  protect frequent --table y.npy --statistic most-frequent --mechanism propose-test-release --classes 2 --epsilon 0.2 --delta 1e-8 --budget-epsilon 1 --budget-delta 1e-5
  protect flat --vector v.npy --mechanism laplace --epsilon 0.2 --delta 1e-8 --l1 0.01 --flat-doubt --budget-epsilon 1 --budget-delta 1e-5
  head_by dp-gd --steps 20
  head_by dp-sgd --batch 8 --epochs 2
  "$python" "$cases" "$verifier" offers "$SOTTO" {stated,frequent,flat,dp-gd,dp-sgd}.jsonl
  run "$python" "$verifier" --total dp-sgd.jsonl
  [[ "$output" == *"what 0 charges took was derived again; NOT derived again (curves, as of sampled steps): what 1 took, line 2"* ]]
}
