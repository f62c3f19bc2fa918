#!/usr/bin/env bats
# sotto selftest: the table, the JSON, the exit codes, nothing left behind.

setup() {
  TMPDIR=$(mktemp -d) && export TMPDIR
}

teardown() {
  rmdir "$TMPDIR" # fails when something was left behind
}

@test "the quick self test passes and prints a table" {
  run "$SOTTO" selftest
  [ "$status" -eq 0 ]
  [[ "$output" == "known answers"*"  ok    logistic: delta at shift 0.1, epsilon 0"*"samplers"*"files"*" checks, 0 failed" ]]
}

@test "--json prints one object" {
  run "$SOTTO" selftest --json
  [ "$status" -eq 0 ]
  [[ "$output" == "{"*'"schema": "sotto.selftest/1"'*'"passed": true'*'"failed": 0'*'"falsifier": null'*'"group": "files"'*"}" ]]
}

@test "--falsify attacks every mechanism and this program, and catches every planted bug" {
  run "$SOTTO" selftest --falsify --draws 200000 --progress never # a quarter of these misses a planted bug now and then
  [ "$status" -eq 0 ]
  [[ "$output" == *"falsifier"*"logistic: one value"*"planted bugs"*"random batch size as divisor"* ]]
  [[ "$output" == *"end to end"*"ok    protect: laplace"*"ok    head: taylor"*"ok    train: dp-sgd"*"ok    a row that is named twice is refused"* ]]
  [[ "$output" == *"probability of a false alarm below 1e-06"* ]]
}

@test "--only takes the attacks with a text in their names" {
  run "$SOTTO" selftest --falsify --only "protect: exponential" --runs 20 --json --progress never
  [ "$status" -eq 0 ]
  [[ "$output" == *'"count": 1,'*'"tests": 12,'*'"group": "end to end"'* ]]
  run "$SOTTO" selftest --falsify --only nothing-of-this-name
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: selftest: no attack has 'nothing-of-this-name' in its name; 'sotto selftest --falsify' lists them" ]
}

@test "--draws, --runs and --only are checked" {
  run "$SOTTO" selftest --only laplace
  [ "$status" -eq 64 ]
  run "$SOTTO" selftest --falsify --runs 5
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: selftest: runs must be at least 20 and at most 1000000 (got 5)" ]
  run "$SOTTO" selftest --draws 5000
  [ "$status" -eq 64 ]
  run "$SOTTO" selftest --falsify --draws 10
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: selftest: draws must be at least 1000 and at most 67108864 (got 10)" ]
}

@test "a folder that cannot be written is one line, exit 73" {
  TMPDIR=/dev/null run "$SOTTO" selftest
  [ "$status" -eq 73 ]
  [ "$output" = "sotto: error: selftest: /dev/null: cannot create a folder in it" ]
}
