#!/usr/bin/env bats
# shards: 24
# The negative controls of the end-to-end attack: a program in which an old defect is planted again is caught every time, and the
# same program without a defect passes (false alarms: 1e-6 an attack). At night every defect is caught 20 times of 20. A defect that
# shows in facts - a text, an exit code, a charge - is caught in every run of the attack, so 20 runs on each file are as good as 200.
# The program without a defect is attacked with 20 too before the night: tests/cli/selftest.bats attacks the same rows with 200.
# One that shows in noisy values alone is caught with probability 0.9998 by 160 runs on each file, and with 1 - 1e-6 by 200.
# Defects of ledgers, certificates and what shaped the columns show in facts: one a day in make check, all of them at the landing.
# At the landing and at night only: 'clip' (the clipped norm itself is tested by property/test_example_clipping and
# property/test_dp_sgd in make check), and 'classes' and 'clip' once more, through an experiment.

load ../support/effort
load ../support/commit

setup() {
  TMPDIR=$(mktemp -d) && export TMPDIR
}
teardown() {
  rmdir "$TMPDIR" # fails when something was left behind
}

# caught DEFECT ATTACK RUNS TIMES TEXT: the attack of so many runs on each file fails every time, and says why
caught() {
  attack() { "$SOTTO_PLANTED_PROGRAM" selftest --falsify --only "$1" --runs "$2" --progress never; }
  if [ "$2" != "${passed-}" ]; then # once a test
    run attack "$2" "$(by_effort 20 20 "$3")"
    echo "without a defect: $output"
    [ "$status" -eq 0 ]
    passed=$2
  fi
  for i in $(seq "$4"); do
    SOTTO_PLANTED=$1 run attack "$2" "$3"
    echo "$1, time $i: $output"
    [ "$status" -eq 1 ]
    [[ "$output" == *"FAIL  $2"*"$5"* ]]
  done
}

@test "values rounded to floats before the noise are caught" {
  caught floats "protect: gaussian" "$(by_effort 160 200 200)" "$(by_effort 1 1 20)" "claimed at most"
}

@test "classes read off the labels are caught" {
  caught classes "head: covariance" "$(by_effort 20 20 200)" "$(by_effort 1 10 20)" "neighbour 2 of 13"
}

@test "an encoding fitted on the private rows, without its stamp, is caught" {
  caught encoding "an encoding fitted on the private rows makes epsilon conditional" "$(by_effort 20 20 200)" "$(by_effort 1 10 20)" "exit code 0"
}

@test "a row number that is given twice is caught" {
  caught rows "a row that is named twice is refused" "$(by_effort 20 20 200)" "$(by_effort 1 10 20)" "exit code 0, expected 65; 1 charges"
}

@test "gradients that are not clipped to the norm are caught" {
  [ "$(by_effort 1 5 50)" -gt 1 ] || skip "800 runs: make check-landing"
  caught clip "train: dp-sgd" 200 "$(by_effort 1 1 20)" "claimed at most"
}

@test "the same defects are caught through the private rows of an experiment" {
  [ "$(by_effort 1 5 50)" -gt 1 ] || skip "runs hundreds of experiments: make check-landing"
  caught classes "run: private head" "$(by_effort 20 20 200)" "$(by_effort 1 1 3)" "neighbour 2 of 4"
  caught clip "run: private network" 200 "$(by_effort 1 1 3)" "claimed at most"
}

@test "a ledger for every order of the same people is caught" {
  caught identity "another order of the same people is charged to the same ledger" "$(by_effort 20 20 200)" "$(by_effort 1 10 20)" "exit code 0, expected 77"
}

# Nothing is drawn: no false alarms. Without a defect the bound is 9.0e-7, with what the path composes to 1.98e-6, with its box 1.75e-6.
@test "a budget on the totals of the path is caught" {
  caught path "a budget: the second release is chosen by the first answer" 20 "$(by_effort 1 1 20)" "claimed at most 1e-06, proved at least 1.97"
  caught box "a budget: the second release is chosen by the first answer" 20 "$(by_effort 1 1 20)" "claimed at most 1e-06, proved at least 1.75"
}

@test "a charge before the output is opened is caught" {
  caught output "no charge where the output cannot be written: head" "$(by_effort 20 20 200)" "$(by_effort 1 10 20)" "exit code 73, expected 73; 1 charges"
}

DEFECTS=15
# caught_in_turn N DEFECT ATTACK TEXT: number N of those that show in facts
caught_in_turn() {
  [ "$(by_effort 1 5 50)" -gt 1 ] || [ "$(part_of_day $DEFECTS)" = "$1/$DEFECTS" ] || skip "the turn of $(part_of_day $DEFECTS): make check-landing takes all"
  caught "$2" "$3" 20 "$(by_effort 1 5 20)" "$4"
}

@test "columns that were shaped by the private rows are caught: an encoding" {
  caught_in_turn 1 shaped "one that is fitted on them by name is refused" "exit code 0, expected 65; 1 charges"
}

@test "columns that were shaped by the private rows are caught: an encoding of a second import" {
  caught_in_turn 2 shaped "... also as a second import" "exit code 0, expected 65; 1 charges"
}

@test "columns that were shaped by the private rows are caught: an encoding of a second import under another identity" {
  caught_in_turn 3 shaped "... and under another identity it makes epsilon conditional" "the certificate must say conditional"
}

@test "columns that were shaped by the private rows are caught: an encoder" {
  caught_in_turn 4 shaped "features by an encoder of the private rows are refused" "exit code 0, expected 65; 1 charges"
}

@test "weights that were shaped by the private rows are caught" {
  caught_in_turn 5 shaped "a network from an encoder of the private rows is refused" "exit code 0, expected 65; 1 charges"
}

@test "weights that were shaped by the private rows are caught: an ancestor" {
  caught_in_turn 6 shaped "... also from what was trained from it" "exit code 0, expected 65"
}

@test "columns that were shaped by the private rows are caught: moments" {
  caught_in_turn 7 shaped "features by moments of the private rows are refused" "exit code 0, expected 65; 1 charges"
}

@test "a certificate that counts lines of the ledger is caught" {
  caught_in_turn 8 history "head after a release of other records" "of 13: "
  caught_in_turn 8 history "head on a table after a release of its earlier import" "of 5: "
}

@test "a charge that looks for its records in other ledgers is caught" {
  caught_in_turn 9 probe "head beside a charged set that may hold the record" "neighbour 1 of 5: 'exit code 0' and 'exit code 77'"
}

@test "a verification that binds no file to its charge is caught" {
  caught_in_turn 10 released "a certificate with the file of another release is refused" "exit code 0, expected 1"
}

@test "steps that a forked process takes are caught" {
  caught_in_turn 11 fork "reserved steps are refused in a forked process" "exit code 0, expected 65"
}

@test "a stop by time that is not settled, or at fewer steps than were taken, is caught" {
  caught_in_turn 12 unsettled "a training that a limit of time stops pays for the steps that it took" "exit code 77, expected 0"
  caught_in_turn 12 settled "a training that a limit of time stops pays for the steps that it took" "exit code 65, expected 0"
}

@test "a stop by hand that costs what was taken is caught" {
  caught_in_turn 13 by-hand "one that is stopped by hand pays for all that it reserved" "exit code 0, expected 77"
}

@test "a verification that looks at no values is caught" {
  caught_in_turn 14 values "... and with values that have no noise" "exit code 0, expected 1"
}

@test "columns that were shaped by the private rows are caught: joined features" {
  caught_in_turn 15 shaped "features beside those by an encoder of private rows are refused" "exit code 0, expected 65; 1 charges"
}
