#!/usr/bin/env bats
# The negative controls of the end-to-end attack: a program in which an old defect is planted again is caught every time, and the
# same program without a defect passes. SOTTO_PLANTED_TIMES: how often each is tried, 20 in `make check-slow`.

setup() {
  TMPDIR=$(mktemp -d) && export TMPDIR
}
teardown() {
  rmdir "$TMPDIR" # fails when something was left behind
}

attack() { "$SOTTO_PLANTED_PROGRAM" selftest --falsify --only "$1" --progress never; }
# caught DEFECT ATTACK TIMES TEXT: the attack fails every time, and says why
caught() {
  run attack "$2"
  echo "without a defect: $output"
  [ "$status" -eq 0 ]
  for i in $(seq "${SOTTO_PLANTED_TIMES:-$3}"); do
    SOTTO_PLANTED=$1 run attack "$2"
    echo "$1, time $i: $output"
    [ "$status" -eq 1 ]
    [[ "$output" == *"FAIL  $2"*"$4"* ]]
  done
}

@test "values rounded to floats before the noise are caught" {
  caught floats "protect: gaussian" 1 "claimed at most"
}

@test "classes read off the labels are caught" {
  caught classes "head: covariance" 10 "neighbour 2 of 13"
}

@test "an encoding fitted on the private rows, without its stamp, is caught" {
  caught encoding "an encoding fitted on the private rows makes epsilon conditional" 10 "exit code 0"
}

@test "a row number that is given twice is caught" {
  caught rows "a row that is named twice is refused" 10 "exit code 0, expected 65; 1 charges"
}

@test "gradients that are not clipped to the norm are caught" {
  caught clip "train: dp-sgd" 1 "claimed at most"
}

@test "the same defects are caught through the private rows of an experiment" {
  [ -n "${SOTTO_PLANTED_TIMES:-}" ] || skip "runs hundreds of experiments: make check-slow"
  SOTTO_PLANTED_TIMES=3 caught classes "run: private head" 3 "neighbour 2 of 4"
  SOTTO_PLANTED_TIMES=3 caught clip "run: private network" 3 "claimed at most"
}

@test "a ledger for every order of the same people is caught" {
  caught identity "another order of the same people is charged to the same ledger" 10 "exit code 0, expected 77"
}

@test "a charge before the output is opened is caught" {
  caught output "no charge where the output cannot be written: head" 10 "exit code 73, expected 73; 1 charges"
}
