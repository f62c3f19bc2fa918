#!/usr/bin/env bats
# shards: 9
# sotto selftest: the table, the JSON, the exit codes, nothing left behind.

load ../support/effort
load ../support/commit

setup() {
  : > "$BATS_TEST_TMPDIR/file"
  TMPDIR=$(mktemp -d) && export TMPDIR
}

teardown() {
  rmdir "$TMPDIR" # fails when something was left behind
}

@test "the quick self test passes and prints a table" {
  run "$SOTTO" selftest --progress never # which a busy machine would print
  [ "$status" -eq 0 ]
  [[ "$output" == "known answers"*"  ok    logistic: delta at shift 0.1, epsilon 0"*"samplers"*"files"*" checks, 0 failed" ]]
}

@test "--json prints one object" {
  run "$SOTTO" selftest --json --progress never
  [ "$status" -eq 0 ]
  [[ "$output" == "{"*'"schema": "sotto.selftest/1"'*'"passed": true'*'"failed": 0'*'"falsifier": null'*'"group": "files"'*"}" ]]
}

# Draws for each input, runs on each file, and which attacks: three tests share them. False alarms: 1e-6 for each of the three, at each
# effort (Bonferroni, so a part of the list has a threshold of its own). Found with probability 0.999 and more: a delta that is exceeded by 0.08 / 0.026 / 0.009 at
# effort 1 / 5 / 50, where the two probabilities are near 1/2, and by less elsewhere; of the program, whatever differs in one byte of
# what is no noise, and in noisy values nothing / files that they tell apart with certainty, where an advantage of at most 0.6 is
# claimed / an advantage that is exceeded by 0.37. (Effort 1: tests/cli/planted.bats finds in noisy values what effort 5 does.)
# The negative controls are the planted bugs, drawn often enough at each effort, and tests/cli/planted.bats.
attack_part() { # K: the Kth third of the attacks; in make check a sixth of these, by the date of the commit
  draws=$(by_effort 20000 200000 2000000) runs=$(by_effort 20 200 1000) parts=$(by_effort 6 1 1)
  turn=$(part_of_day "$parts")
  shard=$((${turn%/*} + ($1 - 1) * parts))/$((3 * parts))
  echo "--draws $draws --runs $runs --shard $shard"
  run "$SOTTO" selftest --falsify --draws "$draws" --runs "$runs" --shard "$shard" --progress never
  echo "$output"
  [ "$status" -eq 0 ]
  [[ "$output" == *"falsifier"*"planted bugs"*"end to end"*"probability of a false alarm below 1e-06"* ]]
  [[ "$output" == *"falsifier: "*" tests on $draws draws per input"* ]]
  [[ "$output" =~ ([0-9]+)" checks, 0 failed" ]]
  [ "${BASH_REMATCH[1]}" -ge $((40 / parts)) ]
}

@test "--falsify attacks every mechanism and this program, and catches every planted bug: the first third" {
  attack_part 1
}

@test "--falsify attacks every mechanism and this program, and catches every planted bug: the second third" {
  attack_part 2
}

@test "--falsify attacks every mechanism and this program, and catches every planted bug: the last third" {
  attack_part 3
}

@test "--only takes the attacks with a text in their names" {
  run "$SOTTO" selftest --falsify --only "protect: exponential" --runs 20 --json --progress never
  [ "$status" -eq 0 ]
  [[ "$output" == *'"count": 1,'*'"tests": 12,'*'"group": "end to end"'* ]]
  run "$SOTTO" selftest --falsify --only nothing-of-this-name
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: selftest: no attack has 'nothing-of-this-name' in its name; 'sotto selftest --falsify' lists them" ]
}

@test "--shard takes a part of the attacks: each attack is in one part" {
  for part in 1 2 3; do
    "$SOTTO" selftest --falsify --only "is refused" --shard $part/3 --progress never || [ $? -eq 65 ]
  done > "$BATS_TEST_TMPDIR/parts.txt"
  "$SOTTO" selftest --falsify --only "is refused" --progress never > "$BATS_TEST_TMPDIR/whole.txt"
  [ "$(grep -c '^  ok' "$BATS_TEST_TMPDIR/whole.txt")" -eq 5 ]
  diff <(grep '^  ok' "$BATS_TEST_TMPDIR/parts.txt" | sort) <(grep '^  ok' "$BATS_TEST_TMPDIR/whole.txt" | sort)
}

@test "--draws, --runs, --only and --shard are checked" {
  run "$SOTTO" selftest --only laplace
  [ "$status" -eq 64 ]
  run "$SOTTO" selftest --shard 1/2
  [ "$status" -eq 64 ]
  run "$SOTTO" selftest --falsify --shard 7/6
  [ "$status" -eq 64 ]
  run "$SOTTO" selftest --falsify --shard 400/400 --progress never
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: selftest: part 400 of 400 has no attack that is asked for; expected fewer parts" ]
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
