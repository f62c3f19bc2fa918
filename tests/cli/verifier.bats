#!/usr/bin/env bats
# The stand-alone verifier in Python's standard library, beside 'sotto verify': both say the same of honest and of forged bundles.

root=$(cd "$(dirname "$BATS_TEST_FILENAME")/../.." && pwd)
verifier=$root/verifier/sotto-verify.py
cases=$root/tests/cli/verifier_cases.py

setup() {
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2> /dev/null || skip "python3 of version 3.9 or newer is not there"
  cd "$BATS_TEST_TMPDIR" || exit 1
  export XDG_DATA_HOME=$PWD PYTHONDONTWRITEBYTECODE=1 # nothing is written beside the sources
  python3 -c 'import struct, sys
def npy(name, descr, shape, data):
    header = "{%r: %r, %r: False, %r: %r, }" % ("descr", descr, "fortran_order", "shape", shape)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    open(name, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)
npy("v.npy", "<f4", (4,), struct.pack("<4f", 1, 2, 3, 4))
npy("w.npy", "|u1", (4,), bytes((0, 1, 2, 3)))
npy("y.npy", "|u1", (24,), bytes(i % 2 for i in range(24)))
npy("t.npy", "<f4", (40, 1), struct.pack("<40f", *(i % 7 / 7 for i in range(40))))
npy("x.npy", "<f4", (24, 3), struct.pack("<72f", *((i * i % 11) / 11 for i in range(72))))'
}
protect() { # NAME OPTION...
  local name=$1
  shift
  "$SOTTO" protect --dataset-id "$name" --ledger "$name.jsonl" -o "$name.npy" --quiet "$@" > /dev/null
}
head_by() { # TRAINER OPTION...: TRAINER.safetensors
  local trainer=$1
  shift
  XDG_DATA_HOME=$PWD/$trainer "$SOTTO" head --features x.npy --labels y.npy --classes 2 --dataset-id "$trainer" --ledger "$trainer.jsonl" --trainer "$trainer" --epsilon 3 --quiet -o "$trainer.safetensors" "$@" > /dev/null
}
convex_head() {
  "$SOTTO" head --features x.npy --labels y.npy --classes 2 --trainer convex --quiet -o unprotected.safetensors > /dev/null
  "$SOTTO" protect --head unprotected.safetensors --dataset-id convex --ledger convex.jsonl --epsilon 1 --delta 1e-5 --quiet -o convex.safetensors > /dev/null
}
# both FILE LEDGER: both verifiers call it consistent
both() {
  "$SOTTO" verify "$1" --ledger "$2" > c.txt || { cat c.txt; return 1; }
  python3 "$verifier" "$1" --ledger "$2" > python.txt || { cat python.txt; return 1; }
  [ "$(head -2 c.txt)" = "$(head -2 python.txt)" ] # verdict and claim
  if grep -qi verified python.txt; then cat python.txt; return 1; fi
}
# refused CODE TEXT ARGUMENT...
refused() {
  local code=$1 text=$2
  shift 2
  run python3 "$verifier" "$@"
  [ "$status" -eq "$code" ] || { echo "exit $status: $output"; return 1; }
  [[ "$output" == *"$text"* ]] || { echo "$output"; return 1; }
}

@test "known answers: the vectors of RFC 8032, and one epsilon of each formula" {
  run python3 "$verifier" --self-test
  [ "$status" -eq 0 ]
  [[ "$output" != *WRONG* ]]
  [ "${#lines[@]}" -ge 14 ]
}

@test "honest releases of every mechanism: re-derived, or said not to be" {
  protect laplace --vector v.npy --mechanism laplace --epsilon 1 --l1 0.01
  protect laplace2 --vector v.npy --mechanism laplace --epsilon 1 --delta 1e-5 --l2 0.01 --flat-doubt
  protect logistic --vector v.npy --mechanism logistic --epsilon 1 --delta 1e-5 --l2 0.01
  protect logistic2 --vector v.npy --mechanism logistic --epsilon 5 --delta 1e-3 --l1 0.011 --l2 0.01
  protect gaussian --vector v.npy --mechanism gaussian --epsilon 8 --delta 1e-9 --l2 0.01
  protect gaussian2 --vector v.npy --mechanism gaussian --scale 100 --delta 1e-3 --l2 0.1
  protect labels --vector y.npy --mechanism randomised-response --epsilon 1 --delta 1e-4 --classes 2 --l1 1
  protect whole --vector w.npy --mechanism discrete-laplace --epsilon 1 --delta 1e-4 --l1 3 --l2 2
  protect knorm --vector v.npy --mechanism knorm --epsilon 1 --delta 1e-5 --l2 0.01
  protect choice --vector v.npy --mechanism exponential --epsilon 1 --delta 1e-3 --l1 0.5
  protect flip --vector v.npy --mechanism permute-and-flip --choices 2 --epsilon 1 --delta 1e-3 --l1 0.5
  protect median --table t.npy --statistic median --range 0,1 --mechanism smooth-median --epsilon 1
  protect mean --table t.npy --statistic mean --range 0,1 --mechanism gaussian --epsilon 1 --delta 1e-5
  for name in laplace laplace2 logistic logistic2 gaussian gaussian2 labels whole knorm choice flip median mean; do
    both "$name.npy" "$name.jsonl"
    grep -q "epsilon re-derived from mechanism" python.txt
  done
  grep -q "proved       the account alone" python.txt # the mean's sensitivity is proved, which only the certificate says
  grep -q "conditional  on the sensitivity, which was NOT re-derived" python.txt
  protect integers --vector w.npy --mechanism discrete-gaussian --epsilon 1 --delta 1e-4 --l2 2
  both integers.npy integers.jsonl
  grep -q "epsilon: NOT re-derived" python.txt
  grep -q "proved       none" python.txt
  protect frequent --table y.npy --statistic most-frequent --mechanism propose-test-release --classes 2 --epsilon 1 --delta 1e-5
  both frequent.npy frequent.jsonl
  grep -q "epsilon: NOT re-derived" python.txt
  protect seeded --vector v.npy --mechanism laplace --epsilon 1 --l1 0.01 --insecure-noise-seed 3 2> /dev/null
  both seeded.npy seeded.jsonl
}

@test "heads: one release is re-derived, sampled steps are not" {
  convex_head
  both convex.safetensors convex.jsonl
  grep -q "epsilon re-derived" python.txt
  head_by covariance
  both covariance.safetensors covariance.jsonl
  head_by objective
  both objective.safetensors objective.jsonl
  grep -q "epsilon re-derived" python.txt
  head_by dp-gd --steps 20
  both dp-gd.safetensors dp-gd.jsonl
  head_by dp-sgd --batch 8 --epochs 2
  both dp-sgd.safetensors dp-sgd.jsonl
  grep -q "the account of sampled steps: NOT re-derived; epsilon is not below the lower end" python.txt
  grep -q "proved       none" python.txt
  if grep -q "epsilon re-derived" python.txt; then cat python.txt; false; fi
}

@test "convex heads: the sensitivity follows from recipe and records" {
  made() { # NAME TRAINER OPTION...; the variable `person` has options of the release
    "$SOTTO" head --features x.npy --labels y.npy --classes 2 --trainer "${@:2}" --quiet -o unprotected.safetensors > /dev/null
    "$SOTTO" protect --head unprotected.safetensors --dataset-id convex --ledger "$1.jsonl" --ledger-move --epsilon 1 --delta 1e-5 --quiet "${person[@]}" -o "$1.safetensors" > /dev/null
  }
  person=()
  export XDG_DATA_HOME=$PWD/convex
  made steps convex --steps 20 --clip 3 --bias 2 --lambda 0.1
  made batches convex-sgd --epochs 2 --batch 8
  made stop convex-lbfgs
  person=(--rows-per-person 3)
  export XDG_DATA_HOME=$PWD/persons
  made person convex
  python3 "$cases" "$verifier" proofs steps.safetensors batches.safetensors stop.safetensors person.safetensors
  python3 "$verifier" stop.safetensors > python.txt
  grep -q "proved       sensitivity and account, for training by the stated recipe" python.txt
  grep -q "conditional  nothing" python.txt
}

@test "ten kinds of forgery, unsigned and signed: refused, or answered with NOT signed" {
  [ -x "$SOTTO_BUILD/test_forgery" ] || skip "test_forgery is not built"
  mkdir forgeries
  SOTTO_FORGERIES=$PWD/forgeries "$SOTTO_BUILD/test_forgery" > /dev/null 2>&1
  python3 "$cases" "$verifier" forgeries forgeries
}

@test "each member of a certificate changed: both verifiers answer alike" {
  protect logistic --vector v.npy --mechanism logistic --epsilon 1 --delta 1e-5 --l2 0.01
  head_by dp-sgd --batch 8 --epochs 2
  python3 "$cases" "$verifier" members "$SOTTO" logistic dp-sgd
}

@test "signatures: both verifiers refuse the same ones; --trust wants a named key" {
  "$SOTTO" key new -o office.key > /dev/null
  "$SOTTO" key new -o other.key > /dev/null
  head_by dp-sgd --batch 8 --epochs 1
  refused 1 "there is none; --trust needs one" dp-sgd.safetensors --trust office.key.pub
  "$SOTTO" key sign dp-sgd.safetensors.certificate.json --key office.key > /dev/null
  python3 "$verifier" dp-sgd.safetensors --trust other.key.pub --trust office.key > out
  grep -q "consistent, signed" out
  refused 1 "by a key that --trust does not name" dp-sgd.safetensors --trust other.key.pub
  python3 "$cases" "$verifier" signatures "$SOTTO" dp-sgd.safetensors office.key.pub
}

@test "exit codes: usage, no certificate, a missing file, a cut ledger" {
  protect laplace --vector v.npy --mechanism laplace --epsilon 1 --l1 0.01
  refused 64 "expected one FILE"
  refused 64 "unrecognized arguments: --no" laplace.npy --no
  refused 66 "nothing.npy.certificate.json" nothing.npy
  refused 66 "nothing.jsonl" laplace.npy --ledger nothing.jsonl
  refused 66 "nothing.npy" laplace.npy.certificate.json --released nothing.npy
  refused 66 "nothing.key" laplace.npy --trust nothing.key
  for text in '[1]' '{"schema": "sotto.certificate/4"}' '{"schema": NaN}' '{"a": 1, "a": 2}' '{' ''; do
    printf '%s' "$text" > no.json
    refused 65 "no.json" no.json || refused 65 "schema is" no.json
  done
  sed -i '$ s/.$//' laplace.jsonl
  refused 1 "ledger chain" laplace.npy --ledger laplace.jsonl
  [[ "$output" != *consistent* ]]
}
