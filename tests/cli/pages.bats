#!/usr/bin/env bats
# The pages of attacks, certificates and comparisons, measured as in page.bats.
# label: effort

load ../support/page

# A private head of 60 records, its certificate, and an attack that asks it.
head_of_sixty() {
  export XDG_DATA_HOME=$PWD
  "$SOTTO" embed --data synthetic-images-n60 --encoder scattering --labels-out y.npy -o x.npy --quiet > /dev/null
  "$SOTTO" head --features x.npy --labels y.npy --classes 10 --trainer dp-sgd --batch 20 --epochs 1 --epsilon 3 --delta 1e-3 --ledger l.jsonl \
    --quiet -o h.safetensors > /dev/null 2>&1
}

@test "the page of an attack, and of a certificate" {
  head_of_sixty
  "$SOTTO" attack ml-leaks-3 --target h.safetensors --member-features x.npy --member-labels y.npy --nonmember-features x.npy --nonmember-labels y.npy \
    --quiet -o attack > /dev/null
  cp attack/report.html attack.html
  grep -qF '<code>sotto attack ml-leaks-3 --target TARGET --member-features MEMBER_FEATURES --member-labels MEMBER_LABELS --nonmember-features NONMEMBER_FEATURES --nonmember-labels NONMEMBER_LABELS</code>' attack.html
  sound attack.html
  paper attack.html
  "$SOTTO" certificate h.safetensors --ledger l.jsonl --html -o certificate.html
  sound certificate.html
  paper certificate.html
}

@test "the page of a comparison" {
  audited -o one
  audited --attack loss -o two
  "$SOTTO" compare --model one=one/result.json --model two=two/result.json -o both > /dev/null
  cp both/report.html compare.html
  sound compare.html
  paper compare.html
}
