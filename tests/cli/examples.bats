#!/usr/bin/env bats
# label: landing
# examples/*.c, as they stand: each runs and says what its comment promises.

bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_TMPDIR"
  export XDG_DATA_HOME=$PWD/home
}

example() { "$SOTTO_BUILD/example_$1"; }

@test "01: what noise guarantees" {
  run -0 example 01_account
  [[ $output == *"epsilon at most 1.0607 at delta 1e-06"* ]]
  [[ $output == *"DP-SGD: epsilon within [1.5154, 1.5154] at delta 1e-05"* ]]
}

@test "02: a released histogram is whole numbers and charged" {
  run -0 example 02_release
  [[ ${lines[0]} =~ ^-?[0-9]+\ -?[0-9]+\ -?[0-9]+\ -?[0-9]+$ ]]
  [[ ${lines[1]} == *"(1, 0)-differentially private"* ]]
  [ "$(grep -c '"mechanism"' survey-2026.ledger.jsonl)" -eq 1 ]
}

@test "03: a private head, its certificate and its ledger" {
  run -0 example 03_private_head
  [[ ${lines[0]} == *"(2, 1e-05)-differentially private"* ]]
  [ -s private.safetensors ]
  [ -s private.safetensors.certificate.json ]
  [ -s clinic-2026.ledger.jsonl ]
  "$SOTTO" verify private.safetensors --ledger clinic-2026.ledger.jsonl
}

@test "04: a protected head is what its certificate says" {
  run -0 example 04_protect_head
  [[ $output == *"epsilon 1 at delta 1e-06"* ]]
  [[ $output == *"proved       sensitivity and account"* ]]
}

@test "05: an encoder learns from images and embeds them" {
  run -0 example 05_encoder
  [[ $output == *"256 embeddings of 128 numbers"* ]]
}

@test "06: members of an overfitted model are found" {
  run -0 example 06_audit
  [[ $output =~ loss\ +0\.6[0-9]+\ \[0\.6 ]]
  [[ $output =~ loss:\ AUC\ 0\.6[0-9]+,\ epsilon\ at\ least\ [1-9] || $output =~ loss:\ AUC\ 0\.6[0-9]+,\ epsilon\ at\ least\ 0\.[1-9] ]]
}

@test "all of them, one after the other, twice, in one home" {
  for name in 01_account 02_release 03_private_head 04_protect_head 05_encoder 06_audit 02_release 03_private_head 04_protect_head; do
    run -0 example "$name"
  done
}
