#!/usr/bin/env bats
# protect --records: every record released once, what trainers say of what they make of it, and one clear line for what makes no sense.

bats_require_minimum_version 1.5.0
load ../support/npy

setup() {
  dir=$(mktemp -d)
  cd "$dir" || return 1
  export XDG_DATA_HOME="$dir/home"
  for i in $(seq 40); do printf '\x00\x01\x02\x09\x01\x00'; done | npy X.npy '|u1' '80, 3'
  for i in $(seq 40); do printf '\x00\x01'; done | npy y.npy '|u1' '80,'
  common=(--records X.npy --clip 1 --epsilon 8 --delta 1e-4 --dataset-id toy --ledger l.jsonl)
}
teardown() { rm -rf "$dir"; }

inspect() { "$SOTTO" inspect "$1" --json | tr -d '\n'; }
refused() {
  local code=$1 text=$2
  shift 2
  status=0
  "$SOTTO" protect "$@" > /dev/null 2> said || status=$?
  [ "$status" -eq "$code" ] || { echo "$status"; cat said; return 1; }
  grep -qF -- "$text" said || { cat said; return 1; }
  [ ! -e out.npy ]
  [ ! -e l.jsonl ]
}

@test "without labels the inputs are protected, and a head says so" {
  run "$SOTTO" protect "${common[@]}" -o noisy.npy
  [ "$status" -eq 0 ]
  [[ $output == *"noisy.npy: gaussian noise of scale "*"(8, 0.0001)-differentially private under replace-input adjacency"* ]]
  [[ $output == *"labels count as public"* ]]
  inspect noisy.npy | tr -d ' ' | grep -q '"shape":\[80,3\]'
  [ ! -e noisy.labels.npy ]
  "$SOTTO" verify noisy.npy --ledger l.jsonl
  "$SOTTO" ledger show l.jsonl | grep -q "one release of every record"
  "$SOTTO" head --features noisy.npy --labels y.npy --epochs 2 --quiet -o h.safetensors
  inspect h.safetensors > said
  grep -qF '"trained_on_privacy": "features private, labels not"' said
  run -1 grep -q trained_on_release said
  "$SOTTO" head --features X.npy --labels y.npy --epochs 2 --quiet -o h.safetensors
  inspect h.safetensors > said
  run -1 grep -q trained_on said
}

@test "with labels whole records are, and head and train copy the certificate's entry" {
  run "$SOTTO" protect "${common[@]}" --labels y.npy --label-epsilon 3 --classes 2 -o noisy.npy
  [ "$status" -eq 0 ]
  [[ $output == *"(8, 0.0001)-differentially private under replace-one adjacency"* ]]
  [[ $output == *"two entries in the ledger, and both epsilons count"* ]]
  "$SOTTO" verify noisy.npy --ledger l.jsonl
  entry=$(grep -A2 '"ledger": {' noisy.npy.certificate.json | sed -n 's/.*"hash": "\(.*\)".*/\1/p')
  [ ${#entry} -eq 64 ]
  "$SOTTO" head --features noisy.npy --labels noisy.labels.npy --epochs 2 --quiet -o h.safetensors
  inspect h.safetensors | grep -qF "\"trained_on_release\": \"$entry\""
  inspect h.safetensors | grep -qF '"trained_on_privacy": "post-processing of one release of every record'
  "$SOTTO" head --features noisy.npy --labels y.npy --epochs 2 --quiet -o h.safetensors
  inspect h.safetensors | grep -qF '"trained_on_privacy": "features private, labels not"'
  mlp=(--model mlp --hidden 4 --epochs 1 --batch 20 --dtype f32 --backend dnnl --quiet)
  "$SOTTO" train --data noisy.npy:noisy.labels.npy "${mlp[@]}" -o m.safetensors
  inspect m.safetensors | grep -qF "\"trained_on_release\": \"$entry\""
  inspect m.safetensors | grep -qF '"statement": "post-processing of one release'
  "$SOTTO" train --data noisy.npy:y.npy "${mlp[@]}" -o m.safetensors
  inspect m.safetensors | grep -qF '"statement": "none: private records trained this network'
  inspect m.safetensors | grep -qF '"trained_on_privacy": "features private, labels not"'
  "$SOTTO" predict --model m.safetensors --features noisy.npy -o p.npy
  printf x >> noisy.labels.npy
  run "$SOTTO" verify noisy.npy --ledger l.jsonl
  [ "$status" -eq 1 ]
  [[ $output == *"does NOT verify: released labels"* ]]
}

@test "one charge for all records, which the budget stops" {
  "$SOTTO" protect "${common[@]}" --budget-epsilon 10 -o noisy.npy
  status=0
  "$SOTTO" protect "${common[@]}" -o again.npy 2> said || status=$?
  [ "$status" -eq 77 ]
  [ ! -e again.npy ]
}

@test "releases by both norms are accounted together" {
  "$SOTTO" protect "${common[@]}" --norm l1 -o a.npy
  "$SOTTO" protect "${common[@]}" -o b.npy
  run "$SOTTO" ledger show l.jsonl
  [[ $output == *"total: epsilon 1"*" at delta 0.0001"* ]]
}

@test "what makes no sense is refused" {
  refused 64 "--records X.npy needs --clip R" --records X.npy --epsilon 1 --dataset-id toy -o out.npy
  refused 64 "exactly one of --scale, --epsilon, --max-tpr and --max-advantage" --records X.npy --clip 1 --dataset-id toy -o out.npy
  refused 65 "delta must be above 0" --records X.npy --clip 1 --epsilon 1 --delta 0 --dataset-id toy -o out.npy
  refused 64 "--labels and --label-epsilon must be given together" "${common[@]}" --labels y.npy -o out.npy
  refused 64 "--labels needs --classes K" "${common[@]}" --labels y.npy --label-epsilon 1 -o out.npy
  refused 64 "--l2 cannot be combined with --records X.npy" "${common[@]}" --l2 1 -o out.npy
  refused 64 "--clip must be at least 1e-09" --records X.npy --clip 1e-12 --epsilon 1 --dataset-id toy -o out.npy
  refused 64 "--clip needs --records X.npy" --vector X.npy --clip 1 --epsilon 1 --l1 1 --dataset-id toy -o out.npy
  refused 64 "--norm must be l2 or l1" "${common[@]}" --norm linf -o out.npy
  refused 64 "has no identity" --records X.npy --clip 1 --epsilon 1 -o out.npy
  refused 65 "expected records (n, ...)" --records y.npy --clip 1 --epsilon 1 --dataset-id toy -o out.npy
  refused 73 "none/out.npy" "${common[@]}" -o none/out.npy
}
