#!/usr/bin/env bats
# shards: 5
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

@test "so it is with stated pairs, doubts and runs, whose curves are derived within 1 % of the shift" {
  protect stated --vector v.npy --mechanism gaussian --epsilon 0.997 --delta 9e-6 --l2 0.01 --budget-epsilon 1 --budget-delta 1e-5
  protect frequent --table y.npy --statistic most-frequent --mechanism propose-test-release --classes 2 --epsilon 0.2 --delta 1e-8 --budget-epsilon 1 --budget-delta 1e-5
  protect flat --vector v.npy --mechanism laplace --epsilon 0.2 --delta 1e-8 --l1 0.01 --flat-doubt --budget-epsilon 1 --budget-delta 1e-5
  head_by dp-gd --steps 20
  head_by dp-sgd --batch 8 --epochs 2
  XDG_DATA_HOME=$PWD/person "$SOTTO" head --features x.npy --labels y.npy --classes 2 --dataset-id person --ledger person.jsonl --trainer dp-sgd --batch 8 --epochs 2 \
    --epsilon 0.3 --rows-per-person 2 --budget-epsilon 1 --budget-delta 1e-5 --quiet -o person.safetensors > /dev/null
  "$python" "$cases" "$verifier" offers "$SOTTO" {stated,frequent,flat,dp-gd,dp-sgd,person}.jsonl
  run "$python" "$verifier" --total dp-sgd.jsonl
  [[ "$output" == *"what 1 charge took was derived again; boxes of runs with a shift 1 % larger, as this program's curves are larger: epsilon at most "*", which does not mean that the "*" is exceeded"* ]]
}

@test "lines and certificates in the wrong, member by member: program and verifier take them or refuse them, both" {
  load ../support/effort
  for name in a b c d; do
    case $name in
      a) set -- --vector v.npy --mechanism laplace --epsilon 0.1 --l1 0.01 ;;
      b) set -- --vector v.npy --mechanism gaussian --epsilon 0.1 --delta 1e-9 --l2 0.01 ;;
      c) set -- --table t.npy --statistic mean --range 0,1 --mechanism gaussian --epsilon 0.2 --delta 1e-9 --budget-epsilon 5 --budget-delta 1e-6 ;;
      d) set -- --vector w.npy --mechanism discrete-laplace --epsilon 0.1 --delta 1e-9 --l1 3 --l2 2 ;;
    esac
    "$SOTTO" protect --dataset-id toy --ledger l.jsonl -o $name.npy --quiet "$@" > /dev/null
  done
  printf '%s\n' 'schema: sotto.events/1' 'adjacency: replace-one' 'events:' '  - {mechanism: gaussian, scale: 0.5, l1: 0.01, l2: 0.01, dimension: 4}' \
    '  - {mechanism: laplace, scale: 0.5, l1: 0.001, count: 2, dimension: 4}' > events.yaml
  "$SOTTO" ledger plan events.yaml --dataset-id toy --ledger l.jsonl --delta 1e-9 > said
  "$SOTTO" protect --dataset-id toy --ledger l.jsonl -o p.npy --quiet --vector v.npy --mechanism laplace --scale 0.5 --l1 0.001 \
    --planned "$(sed -n 's/^plan \([0-9a-f]*\):.*/\1/p' said):2" > /dev/null
  "$SOTTO" head --features x.npy --labels y.npy --classes 2 --dataset-id toy --ledger l.jsonl --trainer dp-gd --steps 20 --epsilon 0.2 --delta 1e-8 --quiet -o h.safetensors > /dev/null
  "$python" "$cases" "$verifier" alike "$SOTTO" "$(by_effort 12 60 all)" l.jsonl {a.npy,c.npy,p.npy,h.safetensors}.certificate.json
}

@test "a last line that was cut off is passed over by every reader, and by none repaired" {
  for i in 1 2; do protect toy --vector v.npy --mechanism laplace --epsilon 0.3 --l1 0.01; done
  head -c -200 toy.jsonl > cut.jsonl
  cp cut.jsonl kept
  for command in "ledger show" "account --delta 1e-6 --ledger" "verify toy.npy --ledger"; do
    # shellcheck disable=SC2086
    GCOV_PREFIX=/dev/null GCOV_ERROR_FILE=/dev/null run bash -c 'ulimit -f 0; exec "$@"' - "$SOTTO" $command cut.jsonl # no file can grow: a full disk
    case $command in # a verification that fails says only what failed
      verify*) [[ "$output" == *"released line: the ledger names 0 files"* ]] ;;
      *) [[ "$output" == *"was cut off while it was written and does not count"* ]] ;;
    esac || { echo "$command: $output"; return 1; }
    [ "$status" -eq $([[ $command == verify* ]] && echo 1 || echo 0) ] || { echo "$command: $status"; return 1; } # the line that names this file was cut
  done
  run "$python" "$verifier" --total cut.jsonl
  [ "$status" -eq 0 ]
  [[ "$output" == *"was cut off while it was written and does not count"*"what 2 charges recorded"* ]]
  cmp cut.jsonl kept
  [ ! -e cut.jsonl.torn ]
}
