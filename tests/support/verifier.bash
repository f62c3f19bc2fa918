# The stand-alone verifier, records and releases, for tests/cli/verifier*.bats.
# shellcheck shell=bash

root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
verifier=$root/verifier/sotto-verify.py
cases=$root/tests/cli/verifier_cases.py

setup_file() {
  cd "$BATS_FILE_TMPDIR" || exit 1
  # the program itself: a script that chooses it, as that of pyenv, takes longer than a check
  python=$(python3 -c 'import sys; sys.version_info < (3, 9) or print(sys.executable)' 2> /dev/null) || python=
  export python PYTHONDONTWRITEBYTECODE=1 # nothing is written beside the sources
  [ -n "$python" ] || return 0
  "$python" -c 'import struct, sys
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
setup() {
  [ -n "$python" ] || skip "python3 of version 3.9 or newer is not there"
  cd "$BATS_TEST_TMPDIR" || exit 1
  export XDG_DATA_HOME=$PWD
  cp "$BATS_FILE_TMPDIR"/*.npy .
}
protect() { # NAME OPTION...
  local name=$1
  shift
  "$SOTTO" protect --dataset-id "$name" --ledger "$name.jsonl" -o "$name.npy" --quiet "$@" > /dev/null
}
head_by() { # TRAINER OPTION...: TRAINER.safetensors, with much noise, whose account takes little time
  local trainer=$1
  shift
  XDG_DATA_HOME=$PWD/$trainer "$SOTTO" head --features x.npy --labels y.npy --classes 2 --dataset-id "$trainer" --ledger "$trainer.jsonl" --trainer "$trainer" --epsilon 0.1 --quiet -o "$trainer.safetensors" "$@" > /dev/null
}
three_releases() { # mean.npy (signed), run.safetensors and planned.npy with one ledger, mean.jsonl: what forged_rows.py takes
  local people
  "$SOTTO" key new -o office.key > /dev/null
  "$SOTTO" ledger init --dataset-id people --budget 3,1e-5 --ledger mean.jsonl > /dev/null
  people=(--dataset-id people --ledger mean.jsonl --quiet)
  "$SOTTO" protect "${people[@]}" --table t.npy --statistic mean --range 0,1 --mechanism gaussian --epsilon 0.3 --delta 1e-6 --sign office.key -o mean.npy > /dev/null
  "$SOTTO" head "${people[@]}" --features x.npy --labels y.npy --classes 2 --trainer dp-sgd --batch 8 --epochs 2 --epsilon 0.1 --delta 1e-6 -o run.safetensors > /dev/null
  printf '%s\n' 'schema: sotto.events/1' 'adjacency: replace-one' 'events:' '  - {mechanism: laplace, scale: 0.5, l1: 0.01, dimension: 4}' \
    '  - {mechanism: gaussian, scale: 0.5, l1: 0.01, l2: 0.01, dimension: 4, count: 2}' > events.yaml
  "$SOTTO" ledger plan events.yaml --dataset-id people --ledger mean.jsonl --delta 1e-6 > said
  "$SOTTO" protect "${people[@]}" --vector v.npy --mechanism laplace --scale 0.5 --l1 0.01 --planned "$(sed -n 's/^plan \([0-9a-f]*\):.*/\1/p' said):1" -o planned.npy > /dev/null
}
plan_of_runs() { # plan.jsonl
  printf '%s\n' 'schema: sotto.events/1' 'adjacency: replace-one' 'events:' \
    '  - {mechanism: laplace, noise_multiplier: 2, sample_rate: 0.1, steps: 40, clipping: l1, adjacency: add-remove}' \
    '  - {mechanism: logistic, noise_multiplier: 3, sample_rate: 0.1, steps: 40, clipping: l1, sampling: fixed}' \
    '  - {mechanism: gaussian, noise_multiplier: 4, sample_rate: 0.1, steps: 300, adjacency: add-remove}' \
    '  - {mechanism: gaussian, scale: 0.5, l2: 0.05, count: 2}' > events.yaml
  "$SOTTO" ledger plan events.yaml --dataset-id plan --ledger plan.jsonl --delta 1e-6 > /dev/null
}
# refused CODE TEXT ARGUMENT...
refused() {
  local code=$1 text=$2
  shift 2
  run "$python" "$verifier" "$@"
  [ "$status" -eq "$code" ] || { echo "exit $status: $output"; return 1; }
  [[ "$output" == *"$text"* ]] || { echo "$output"; return 1; }
}
