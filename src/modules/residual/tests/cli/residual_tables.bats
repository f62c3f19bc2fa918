#!/usr/bin/env bats
# label: landing
# The tables of the residual-perturbation paper on the smallest data: targets side by side, every attack.

setup_file() {
  export script=$BATS_TEST_DIRNAME/../../experiments/residual.sh dir=$(mktemp -d)
  export JOBS=2 THREADS=2 REPEATS=2 OMP_WAIT_POLICY=passive
  cat > "$dir/tiny.yaml" <<'EOF'
scaled:
  set: synthetic-faces-n512
  image: 3,32,32
  part: 24
  seeds: 1 2
  train: "--model resnet8 --optimizer sgd --lr 0.1 --batch 12 --epochs 1" # as small as it gets
  dpsgd: "--model resnet8 --norm group --optimizer sgd --lr 0.1 --batch 24 --epochs 1"
  attacks: plain adaptive averaged
  rows: plain add-0.5 en2-0.5 noskip-0.5 dpsgd
  lira: plain
  shadows: 4
EOF
}
teardown_file() { rm -rf "$dir"; }

@test "every row is in the table, with both seeds" {
  "$script" "$dir/f" "$dir/tiny.yaml" > "$dir/table" 2> "$dir/log" || { cat "$dir/log"; false; }
  for row in plain add-0.5 en2-0.5 noskip-0.5 dpsgd; do
    grep -q "^| $row | 2 | 0\.[0-9]* \[" "$dir/table"
  done
  [ "$(wc -l < "$dir/f/synthetic-faces-n512-scaled/results.csv")" -eq 11 ]
}

@test "the figures of the paper are plots on a page" {
  page=$dir/f/synthetic-faces-n512-scaled/figures.html json=$dir/f/synthetic-faces-n512-scaled/figures.json
  [ "$(grep -c '<svg viewBox' "$page")" -eq 6 ]
  for title in 'Accuracy against additive noise' 'Attacks against additive noise' 'Multiplicative noise' 'Size of the ensemble' 'ROC curves of the attack of the paper' 'ROC curves of the loss attack'; do
    grep -q "<h2>$title" "$page"
  done
  # a mean over both seeds, at gamma 0 and .5, as the table says
  mean=$(LC_ALL=C awk '/^\| add-0.5 / { print $8 }' "$dir/table")
  grep -o '"name": "one network, test", "points": \[\[0, [^}]*' "$json" | sed 's/.*\[0.5, //; s/[],].*//' |
    LC_ALL=C awk -v m="$mean" '{ if ($1 - m > 0.0006 || m - $1 > 0.0006) exit 1 } END { exit NR != 1 }'
  grep -q '"name": "plain (AUC 0\.[0-9]*)", "points": \[\[' "$json"
  if command -v python3 > /dev/null; then "$BATS_TEST_DIRNAME/../../../../../tools/check-schema" "$json"; fi
}

@test "existing results are not computed again" {
  made() { find "$dir/f" -name '*.safetensors' -o -name '*.npy' -o -name result.json | sort | xargs stat -c '%n %Y %s'; }
  made > "$dir/before"
  "$script" "$dir/f" "$dir/tiny.yaml" 2> /dev/null | cmp - "$dir/table"
  made | cmp - "$dir/before"
  TABLE=1 "$script" "$dir/f" "$dir/tiny.yaml" | cmp - "$dir/table"
}

@test "one target that fails ends the script" {
  run "$script" "$dir/g" "$dir/tiny.yaml" scaled add-much plain
  [ "$status" -eq 1 ]
  [[ "$output" == *"--gamma: 'much' is not a number"* ]]
  [ ! -e "$dir/g/synthetic-faces-n512-scaled/results.csv" ]
}

@test "an unknown preset or row is an error" {
  run "$script" "$dir/g" "$dir/tiny.yaml" other
  [ "$status" -eq 64 ]
  [[ "$output" == *"no preset 'other'"* ]]
  for JOBS in 1 2; do
    run "$script" "$dir/h" "$dir/tiny.yaml" scaled sideways
    [ "$status" -eq 64 ]
    [[ "$output" == *"unknown row 'sideways'"* ]]
  done
}
