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
# refused CODE TEXT ARGUMENT...
refused() {
  local code=$1 text=$2
  shift 2
  run "$python" "$verifier" "$@"
  [ "$status" -eq "$code" ] || { echo "exit $status: $output"; return 1; }
  [[ "$output" == *"$text"* ]] || { echo "$output"; return 1; }
}
