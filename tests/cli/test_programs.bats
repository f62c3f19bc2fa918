#!/usr/bin/env bats
# The programs that hold our tests (tests/support/test_main.c): what is run, in which order, and what a test that dies does to others.

bats_require_minimum_version 1.5.0

probe() { "$SOTTO_BUILD/test_probe" "$@"; }

@test "a test that fails, dies or ends its process is one failure, and the tests behind it run, in every turn" {
  run -1 --separate-stderr probe --only probe
  [ "$(grep -c '^behind all$' <<< "$output")" = 2 ]
  [[ "$stderr" == *"dies: its process died of signal 6"* ]]
  [[ "$stderr" == *"leaves: its process ended with exit code 0"* ]]
  [ "$(grep -c 'error: Failure!' <<< "$stderr")" = 4 ] # fails, and finds, as keeps() ran before it in the same process
  [[ "$stderr" == *"probe: failed; again: SOTTO_EFFORT=1 "*" --only probe"* ]]
}

@test "groups and tests are run by name, by tag, one by one, and in the same random order for a seed" {
  run -0 probe --only probe.passes
  [ "$(grep -c 'RUN.*passes' <<< "$output")" = 2 ]
  run -0 probe --only probe.keeps --only probe.finds --each
  run -1 probe --only probe.keeps --only probe.finds
  run -0 probe --list --tag other
  [ "${#lines[@]}" = 8 ]
  [ "${lines[0]}" = probe.passes ]
  run -0 probe --list --shuffle 7
  local seventh=$output
  run -0 probe --list --shuffle 7
  [ "$output" = "$seventh" ]
  run -0 probe --list --shuffle 8
  [ "$output" != "$seventh" ]
  local whole
  whole=$(probe --list | sort)
  [ "$({ probe --list --shard 1/3; probe --list --shard 2/3; probe --list --shard 3/3; } | sort)" = "$whole" ]
  [ "$(probe --list --shard 2/3 | head -n 1)" = "$(probe --list | sed -n 3p)" ] # the second of its group
}

@test "what cannot run is skipped, and nothing to run is an error" {
  run -77 probe --only absent
  [[ "$output" == *"absent: skipped: it is never there"* ]]
  run -2 probe --only prob
  run -2 probe --only probe.no_test
  run -2 probe --tag none
  run -2 probe --unknown
  run -2 probe --shard 4/3
  run -2 probe --shard 0/3
  run -2 probe --shard 1/3x
  SOTTO_EFFORT=2 run -2 probe --only probe.passes
  [[ "$output" == *"SOTTO_EFFORT is '2'; expected 1, 5 or 50"* ]]
}
