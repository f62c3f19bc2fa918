#!/usr/bin/env bats
# label: landing
# The figures of the Talos paper on the smallest data: every file runs, on one folder, and a second run finds everything done.

setup_file() {
  export experiments=$BATS_TEST_DIRNAME/../../experiments dir=$(mktemp -d)
  export SET=synthetic-faces-n512 RECORDS=64 EPOCHS=1 BATCH=32 QUERIES=20 TALOS="bounded-1" NETWORKS=resnet8 THREADS=2 OMP_WAIT_POLICY=passive
}
teardown_file() { rm -rf "$dir"; }
setup() {
  for verb in $(sed -nE 's/.*"\$sotto" ([a-z-]+) .*/\1/p' "$experiments"/*.sh | sort -u); do
    "$SOTTO" help | grep -q "^  sotto $verb " || skip "this build has no verb $verb"
  done
}

figure() { # FILE LINES: so many lines of a table
  local output
  output=$("$experiments/$1.sh" "$dir/f") # an error ends the test
  [ "$(grep -c '\[0\.' <<< "$output")" -eq "$2" ]
}

@test "every figure prints its table" {
  figure fig03-utility 2
  figure fig04-membership 2
  figure fig05-07-membership-more 5
  figure fig08-attribute 2
  figure fig08-10-embedding-size 4
  figure fig10-attacker-data 2
  figure fig11-attacker-depth 1
  figure fig12-task-defended 5
  figure fig13-membership-defended 5
  figure fig14-attribute-defended 5
  figure fig15-17-lambda 4
  figure fig18-attacker-data-supervised 1
  figure fig19-attacker-depth-supervised 1
  figure fig20-24-membership-defended-more 5
}

@test "existing results are not computed again" {
  stat -c '%n %Y %s' "$dir"/f/*.safetensors "$dir"/f/*.npy "$dir"/f/*-*.json > "$dir/before"
  "$experiments/talos.sh" "$dir/f" > "$dir/steps"
  grep -q 'best improvement per metric' "$dir/steps"
  stat -c '%n %Y %s' "$dir"/f/*.safetensors "$dir"/f/*.npy "$dir"/f/*-*.json | cmp - "$dir/before"
  [ -e "$dir/f/joint/report.html" ]
}

@test "an unknown step is an error" {
  run "$experiments/talos.sh" "$dir/f" modles
  [ "$status" -eq 64 ]
  [[ "$output" == *"unknown step 'modles'"* ]]
}
