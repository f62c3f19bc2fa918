#!/usr/bin/env bats
# Real outputs against schemas/*.schema.json (tools/check-schema): every key of an output stands in its schema.

setup() {
  command -v python3 >/dev/null || skip "python3 is not installed"
  cd "$BATS_TEST_TMPDIR" || return 1
  export XDG_DATA_HOME=$PWD
  tree=$BATS_TEST_DIRNAME/../..
  check=$tree/tools/check-schema rows=$tree/examples/audit
}
head_of() { "$SOTTO" head --features "$rows/member-logits.npy" --labels "$rows/member-labels.npy" --classes 10 "$@" > /dev/null; }

@test "certificates and ledgers" {
  "$SOTTO" ledger init --dataset-id people --budget 9,1e-3 --ledger l.jsonl > /dev/null
  head_of --dataset-id people --ledger l.jsonl --trainer covariance --clip 1 --epsilon 3 -o a.safetensors
  head_of --dataset-id people --ledger l.jsonl --trainer dp-sgd --batch 30 --epochs 1 --noise-multiplier 30 -o b.safetensors
  [ "$(wc -l < l.jsonl)" -ge 4 ]
  "$check" a.safetensors.certificate.json b.safetensors.certificate.json l.jsonl
  "$SOTTO" ledger init --dataset-id kept --budget 9,1e-3 --column 0:1e-4:0.5 --column 3:1e-4:0.5 --ledger c.jsonl > /dev/null
  head_of --dataset-id kept --ledger c.jsonl --trainer covariance --clip 1 --epsilon 3 -o c.safetensors
  "$check" c.safetensors.certificate.json c.jsonl
}

@test "certificates and ledgers of persons" {
  awk 'BEGIN { print "who,age,y"; for (i = 0; i < 200; i++) printf "p%d,%d,%s\n", i / 2, i * 7 % 90, i % 3 ? "no" : "yes" }' > t.csv
  printf '%s' '{"schema": "sotto.schema/1", "columns": [{"name": "who", "type": "person"}, {"name": "age", "type": "number", "bounds": [0, 99]},
    {"name": "y", "type": "label", "classes": ["no", "yes"]}]}' > schema.json
  "$SOTTO" data import t.csv --name t --schema schema.json --person who --rows-per-person 2 > /dev/null
  "$SOTTO" data split t --parts all=200 --one-hot -o t > /dev/null
  for trainer in 'covariance --clip 1 --epsilon 3' 'dp-sgd --batch 20 --epochs 1 --noise-multiplier 30'; do
    "$SOTTO" head --features t/all-features.npy --labels t/all-labels.npy --trainer $trainer --ledger l.jsonl -o "${trainer%% *}.safetensors" > /dev/null
  done
  grep -q 'sotto.certificate/3' covariance.safetensors.certificate.json
  "$check" schema.json l.jsonl ./*.certificate.json
}

@test "audits and reports" {
  "$SOTTO" audit --member-logits "$rows/member-logits.npy" --nonmember-logits "$rows/nonmember-logits.npy" --member-labels "$rows/member-labels.npy" \
    --nonmember-labels "$rows/nonmember-labels.npy" --claim eps=3,delta=1e-6 --bootstrap 100 -o audit > /dev/null 2>&1
  "$check" audit/result.json audit/report.json "$tree/tests/golden/report_example.json"
}

@test "events and declared tables: what the program takes, the schema takes; what it refuses is refused" {
  printf '%s' '{"schema": "sotto.events/1", "adjacency": "replace-one", "events": [{"mechanism": "laplace", "scale": 2, "l1": 1, "count": 2}]}' > events.json
  "$SOTTO" account --events events.json --delta 1e-6 > /dev/null
  "$check" events.json
  printf '%s' '{"schema": "sotto.schema/1", "columns": [{"name": "age", "type": "number", "bounds": [0, 99]}, {"name": "y", "type": "label", "classes": ["no", "yes"]}]}' > schema.json
  printf 'age,y\n3,no\n5,yes\n' > t.csv
  "$SOTTO" data import t.csv --name t --schema schema.json > /dev/null
  "$check" schema.json
  sed -i 's/"count"/"counts"/' events.json
  sed -i 's/"bounds"/"bound"/' schema.json
  run "$SOTTO" account --events events.json --delta 1e-6
  [ "$status" -eq 65 ]
  run "$SOTTO" data import t.csv --name u --schema schema.json
  [ "$status" -ne 0 ]
  run "$check" events.json
  [ "$status" -eq 1 ]
  [[ "$output" == *'.counts: stands in no schema'* ]]
  run "$check" schema.json
  [ "$status" -eq 1 ]
}
