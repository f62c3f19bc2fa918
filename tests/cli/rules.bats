#!/usr/bin/env bats
# account --events, --opacus-history, --import: files in, one interval out, adjacency never mixed silently.

setup() {
  dir=$(mktemp -d)
  cd "$dir"
  export XDG_DATA_HOME=$dir/data
  cat > events.json <<'EOF'
{"schema": "sotto.events/1", "adjacency": "add-remove", "events": [
  {"mechanism": "gaussian", "noise_multiplier": 1.1, "sample_rate": 0.01, "steps": 1000},
  {"mechanism": "laplace", "scale": 10, "l1": 1, "count": 5},
  {"mechanism": "stated", "epsilon": 0.1, "delta": 1e-7}]}
EOF
  echo '{"history": [[1.5, 0.04, 2250]], "mechanism": "rdp"}' > opacus.json
}
teardown() { rm -rf "$dir"; }

# upper KEY FROM JSON
upper() { sed -n 's/.*"upper": \([0-9.e+-]*\).*/\1/p' <<< "$output"; }

@test "account --events: one interval, adjacency named" {
  run "$SOTTO" account --events events.json --delta 1e-5
  [ "$status" -eq 0 ]
  [[ "$output" == "composition, add-remove"* ]]
  [[ "$output" == *"1006 releases"* ]]
  run "$SOTTO" account --events events.json --delta 1e-5 --json
  [ "$status" -eq 0 ]
  [[ "$output" == *'"adjacency": "add-remove"'* ]]
  one=$(upper)
  run "$SOTTO" account --events events.json --delta 1e-5 --adjacency replace-one --json
  [[ "$output" == *'"adjacency": "replace-one"'* ]]
  LC_ALL=C awk "BEGIN { exit !($(upper) > 1.2 * $one) }"   # a replacement costs more
}

@test "account --opacus-history: never above Opacus itself" {
  run "$SOTTO" account --opacus-history opacus.json --delta 1e-5 --json
  [ "$status" -eq 0 ]
  LC_ALL=C awk "BEGIN { exit !($(upper) <= 7.32911117143) }"
  [[ "$output" == *'"noise_multiplier": 1.5'* ]]
}

@test "account --import: an Opacus history in a ledger is conditional, and counts as a group of two" {
  run "$SOTTO" account --opacus-history opacus.json --import --ledger l.jsonl --delta 1e-5
  [ "$status" -eq 0 ]
  [[ "$output" == *'"proved": "none"'* ]]
  [[ "$output" == *'"imported": 1'* ]]
  [[ "$output" == *'"converted": "add-remove entries count as a group of two'* ]]
  grep -q 'as stated by the caller' l.jsonl
  run "$SOTTO" account --ledger l.jsonl --delta 1e-5
  [ "$status" -eq 0 ]
  [[ "$output" == *'"add_remove_releases": 1'* ]]
  run "$SOTTO" account --opacus-history opacus.json --import --delta 1e-5
  [ "$status" -eq 64 ]
  run "$SOTTO" account --import --ledger l.jsonl
  [ "$status" -eq 64 ]
}

@test "account --events: one line for each mistake" {
  run "$SOTTO" account --events none.json --delta 1e-5
  [ "$status" -eq 66 ]
  echo '[{"mechanism": "gaussian", "scala": 1}]' > bad.json
  run "$SOTTO" account --events bad.json --delta 1e-5
  [ "$status" -eq 65 ]
  [[ "$output" == *"bad.json: events[0]: unknown member 'scala'; did you mean 'scale'?"* ]]
  echo '[{"mechanism": "gaussian", "scale": 1, "l2": 1, "adjacency": "replace-one"}]' > one.json
  run "$SOTTO" account --events one.json --delta 1e-5 --adjacency add-remove
  [ "$status" -eq 69 ]
  [[ "$output" == *"a guarantee under replace-one adjacency does not cover add-remove adjacency; account under replace-one, or give the sensitivity under add-remove"* ]]
  run "$SOTTO" account --events one.json --scale 2 --delta 1e-5
  [ "$status" -eq 64 ]
  run "$SOTTO" account --events one.json --opacus-history opacus.json
  [ "$status" -eq 64 ]
  run "$SOTTO" account --events one.json --adjacency both
  [ "$status" -eq 64 ]
  echo '[[0, 0.1, 5]]' > zero.json
  run "$SOTTO" account --opacus-history zero.json --delta 1e-5
  [ "$status" -eq 65 ]
  [[ "$output" == *"history[0]: noise_multiplier is 0; expected more than 0, as steps without noise have no guarantee"* ]]
}

@test "account --any-order: a box for an analyst who looks, beside the account of fixed parameters" {
  cat > looks.json <<'EOF'
{"schema": "sotto.events/1", "adjacency": "replace-one", "events": [
  {"mechanism": "gaussian", "noise_multiplier": 6.98, "sample_rate": 0.0341, "steps": 586, "adjacency": "add-remove"},
  {"mechanism": "laplace", "scale": 5, "l1": 1, "count": 3}]}
EOF
  # member NAME...: a number of the document
  member() { python3 -c 'import json, sys; d = json.load(sys.stdin)
for k in sys.argv[1:]: d = d[k]
print(d)' "$@" <<< "$output"; }
  near() { LC_ALL=C awk "BEGIN { d = $1 - $2; exit !(d < $3 && d > -$3) }"; }
  run "$SOTTO" account --events looks.json --adjacency replace-one --delta 1e-6 --any-order --json
  [ "$status" -eq 0 ]
  [[ "$output" == *'"schema": "sotto.any_order/1"'*'"schema": "sotto.account/1"'* ]]
  near "$(member epsilon upper)" 1.577 0.0158   # a hundredth of it: docs/derivations/adaptive.md, section 4
  near "$(member box pure)" 0.6 1e-9
  near "$(member box mu)" 0.2365 5e-4
  near "$(member beforehand epsilon upper)" 1.489 0.0149
  run "$SOTTO" account --events looks.json --adjacency replace-one --delta 1e-6 --any-order
  [ "$status" -eq 0 ]
  [[ "$output" == "for any order of choices: epsilon at delta 1e-06: at most 1.57"*"if this box was fixed before the first release: pure epsilon 0.6"*$'\n'"if all parameters had been fixed beforehand:"$'\n'"composition, replace-one"*"at most 1.48"* ]]
}

@test "account --any-order: where no box is known, and what it does not go with" {
  cat > beyond.json <<'EOF'
{"schema": "sotto.events/1", "adjacency": "replace-one", "events": [
  {"mechanism": "gaussian", "noise_multiplier": 6.98, "sample_rate": 0.0341, "steps": 586, "adjacency": "add-remove"},
  {"mechanism": "stated", "epsilon": 0.1, "delta": 1e-5}]}
EOF
  run "$SOTTO" account --events beyond.json --adjacency replace-one --delta 1e-6 --any-order
  [ "$status" -eq 0 ]
  [[ "$output" == "for any order of choices: none, as events[0] (gaussian) has no triple at delta 1e-06"* ]] || { echo "$output"; false; }
  run "$SOTTO" account --events beyond.json --adjacency replace-one --delta 1e-6 --any-order --json
  [ "$status" -eq 0 ]
  [[ "$output" == *'"upper": null'*'"pure": null'*'"reason": "events[0]'* ]]
  run "$SOTTO" account --mechanism gaussian --scale 1 --l2 1 --delta 1e-5 --any-order
  [ "$status" -eq 64 ]
  [[ "$output" == *"account: --any-order needs --events FILE"* ]]
  run "$SOTTO" account --opacus-history opacus.json --delta 1e-5 --any-order
  [ "$status" -eq 64 ]
  run "$SOTTO" account --events events.json --ledger l.jsonl --delta 1e-5 --any-order
  [ "$status" -eq 64 ]
  [[ "$output" == *"--any-order cannot be combined with --ledger"* ]]
  run "$SOTTO" account --events bad.json --delta 1e-5 --any-order
  [ "$status" -eq 66 ]
}

@test "account --rule: every rule, its property and its figure" {
  rule() { run "$SOTTO" account --rule "$@"; [ "$status" -eq 0 ] || { echo "$output"; return 1; }; }
  rule basic --parts '0.5,1e-6;1'
  [[ "$output" == "rule basic (property 5.1, sequential composition), replace-one"*"epsilon at most 1.5, at least 1.5, at delta 1e-06"* ]]
  rule optimal --parts 0.1 --compose 100 --delta 1e-6
  [[ "$output" == *"at most 4.774567589, at least 4.774567588"* ]]
  rule optimal --parts 0.1 --compose 100 --delta 1e-5
  [[ "$output" == *"at most 4.306791373"* ]]
  rule advanced --parts 0.1 --compose 100 --delta 1e-6
  LC_ALL=C awk "BEGIN { exit !($(sed -n 's/epsilon at most \([0-9.]*\),.*/\1/p' <<< "$output") > 4.774567588) }"
  rule group --parts '1,1e-7' --group 3
  [[ "$output" == *"epsilon at most 3, "* ]]
  rule mixture --parts '1,1e-6;2' --weights data-independent --probabilities 0.5,0.5
  [[ "$output" == *"property 5.4, convexity"*"epsilon at most 2, "*"at delta 5.0"* ]]
  rule post-processing --parts '1;2'
  [[ "$output" == *"property 5.3"*"epsilon at most 3"*"keeps its guarantee"* ]]
}

@test "account --rule parallel: what decides about parts must be stated" {
  parts=(--rule parallel --parts '0.5;1;2')
  run "$SOTTO" account "${parts[@]}"
  [ "$status" -eq 64 ]
  [[ "$output" == *"--rule parallel needs --parts-by"* ]]
  run "$SOTTO" account "${parts[@]}" --parts-by value --adjacency add-remove
  [[ "$output" == *"epsilon at most 2, "*"under add-remove only"* ]]
  run "$SOTTO" account "${parts[@]}" --parts-by value --parts-hold add-remove --adjacency replace-one --json
  [[ "$output" == *'"epsilon": {"lower": 4, "upper": 4}'* ]]   # a replacement within the largest part: not 3
  run "$SOTTO" account "${parts[@]}" --parts-by index
  [[ "$output" == *"replace-one"*"epsilon at most 2, "* ]]
  run "$SOTTO" account "${parts[@]}" --parts-by value
  [ "$status" -ne 0 ]
  [[ "$output" == *"give guarantees under add-remove"* ]]
}

@test "account --rule: what has no rule is refused" {
  refused() { local text=$1; shift; run "$SOTTO" account "$@"; [ "$status" -eq 64 ] || { echo "$status $output"; return 1; }; [[ "$output" == *"$text"* ]] || { echo "$output"; return 1; }; }
  refused "--rule: 'sum' is unknown" --rule sum --parts 1
  refused "--rule mixture needs --weights" --rule mixture --parts '1;2'
  refused "--weights: 'data-dependent' gives no bound" --rule mixture --parts '1;2' --weights data-dependent
  refused "3 numbers for 2 parts" --rule mixture --parts '1;2' --weights data-independent --probabilities 0.2,0.2,0.6
  refused "--parts: '1;' is not a list" --rule basic --parts '1;'
  refused "--parts: '1,' is not a list" --rule basic --parts '1,'
  refused "2 guarantees; expected one" --rule group --group 2 --parts '1;2'
  refused "--compose means nothing to --rule basic" --rule basic --parts 1 --compose 2
  refused "--l1 cannot be combined with --rule" --rule basic --parts 1 --l1 1
  refused "--parts needs --rule" --parts 1
  run "$SOTTO" account --rule basic --parts '-1'
  [ "$status" -eq 65 ]
}
