#!/usr/bin/env bats
# What is public does not follow the history of records: a release after another one of the same records, and after an update of row 5.

load ../support/verifier

# second HISTORY: the second release after HISTORY; what is public of it, with noise, hashes and times masked, in HISTORY.txt
second() {
  mkdir "$1" && cd "$1" || return 1
  export XDG_DATA_HOME=$PWD
  local call=("$SOTTO" head --labels ../y.npy --classes 2 --dataset-id people --trainer covariance --clip 1 --epsilon 0.5 --delta 1e-5)
  "${call[@]}" --features ../x.npy -o h.safetensors > /dev/null 2>&1
  "${call[@]}" --features "../$1.npy" -o h.safetensors > out 2> err
  {
    echo "exit $?"
    cat out err
    "$SOTTO" verify h.safetensors
    "$SOTTO" certificate h.safetensors --ledger sotto/ledger/people.jsonl
    sed 's/[0-9a-f]\{64\}/HASH/; s/T[0-9:]*Z"/T"/' h.safetensors.certificate.json
    stat -c '%n %s' h.safetensors h.safetensors.certificate.json
    "$SOTTO" head --labels ../y.npy --classes 2 --dataset-id people --trainer covariance --clip 1 --epsilon 0.5 --delta 1e-5 --budget-epsilon 0.6 \
      --features ../x.npy -o h.safetensors 2>&1 || echo "exit $?"
  } | sed 's/[0-9a-f]\{64\}/HASH/; s/[0-9a-f]\{16\}\.\.\./HASH/; s/[0-9-]*T[0-9:]*Z/TIME/; s|'"/$1/"'|/HISTORY/|' > "../$1.txt"
  lines=$(grep -c '"event":"records"' sotto/ledger/people.jsonl)
  cd .. || return 1
}

@test "stdout, stderr, exit code, certificate, page and sizes are the same after two histories" {
  cp x.npy same.npy
  "$python" -c 'data = bytearray(open("x.npy", "rb").read())
data[-72 * 4 + 15 * 4 + 2] ^= 1
open("updated.npy", "wb").write(data)'
  second same
  [ "$lines" -eq 1 ]
  second updated
  [ "$lines" -eq 2 ] # the ledger, which is private, has seen the update
  diff same.txt updated.txt
  grep -q '"charge": 1' same.txt
  grep -q "^exit 77" same.txt
}
