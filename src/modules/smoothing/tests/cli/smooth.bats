#!/usr/bin/env bats
# predict --smooth: answers by vote, radii, files, and one clear line for what makes no sense.

bats_require_minimum_version 1.5.0
load ../../../../../tests/support/npy

setup_file() {
  cd "$BATS_FILE_TMPDIR" || return 1
  # one number: class 0 at 0, class 1 at 9
  for i in $(seq 20); do printf '\x00\x09'; done | npy X.npy '|u1' '40, 1'
  for i in $(seq 20); do printf '\x00\x01'; done | npy y.npy '|u1' '40,'
  printf '\x00\x09\x05' | npy q.npy '|u1' '3, 1'
  printf '\x00\x01\x00' | npy t.npy '|u1' '3,'
  printf '\x00\x01\x07' | npy bad.npy '|u1' '3,'
  "$SOTTO" head --features X.npy --labels y.npy --epochs 200 --lr 0.1 --quiet -o h.safetensors
}
setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

smooth() { "$SOTTO" predict --head h.safetensors --features q.npy --smooth 1 --seed 1 "$@"; }
refused() {
  local code=$1 text=$2
  shift 2
  rm -f out.*
  status=0
  "$@" > /dev/null 2> said || status=$?
  [ "$status" -eq "$code" ] || { echo "$status"; cat said; return 1; }
  grep -qF -- "$text" said || { cat said; return 1; }
  [ "$(grep -vc '^hint: ' said)" -eq 1 ]
  [ -z "$(ls out.* 2> /dev/null)" ]
}

@test "radii, abstention and the promise" {
  run smooth --certify --labels t.npy
  [ "$status" -eq 0 ]
  [[ $output == "3 rows, gaussian noise of scale 1, 1000 copies after 100 that chose the class; largest possible L2 radius 2.4633"* ]]
  [[ $output == *"certified accuracy at L2 radius 1.847: 0.6667"* ]]
  [[ $output == *"no change of a row of L2 norm below its radius"* ]]
  [[ $output == *"for any of the 3 rows, or for a row that was picked among them, is at most 0.003"* ]]
  [[ $output == *"not about the training records: smoothing gives no membership guarantee"* ]]
  [[ $output == *"between embeddings, not images"* ]]
}

@test "votes alone have no radius" {
  run smooth --labels t.npy --json
  [ "$status" -eq 0 ]
  [[ $output == '{"schema":"sotto.smooth/1","method":"predict","noise":"gaussian","scale":1.0,"n":1000,'* ]]
  [[ $output != *radius* ]]
}

@test "L1 radii, PixelDP, and the radii of the curve" {
  run smooth --certify --noise logistic --compare --labels t.npy --radii 0,2 --json
  [ "$status" -eq 0 ]
  [[ $output == *'"norm":"l1"'* ]]
  [[ $output == *'"certified_accuracy":[{"radius":0.0,"accuracy":'*'},{"radius":2.0,'*'"pixeldp":'* ]]
  [[ $output == *'"pixeldp_radius":'* ]]
}

@test "files of three kinds; the same seed gives the same bytes, alone or in company" {
  smooth --certify -o a.json > /dev/null
  smooth --certify -o b.json --threads 1 > /dev/null
  cmp a.json b.json
  smooth --certify -o a.csv > /dev/null
  [ "$(head -1 a.csv)" = "row,class,abstained,votes,p_lower,radius,pixeldp_radius,right" ]
  [ "$(wc -l < a.csv)" -eq 4 ]
  smooth --certify -o a.npy > /dev/null
  "$SOTTO" inspect a.npy --json | tr -d ' \n' | grep -q '"shape":\[3,4\]'
  printf '\x05' | npy one.npy '|u1' '1, 1'
  "$SOTTO" predict --head h.safetensors --features one.npy --smooth 1 --seed 1 --certify -o one.csv > /dev/null
  [ "$(sed -n 4p a.csv | cut -d, -f2-)" = "$(sed -n 2p one.csv | cut -d, -f2-)" ]
}

@test "the seed counts, and without one noise is new" {
  smooth --json > a.json
  "$SOTTO" predict --head h.safetensors --features q.npy --smooth 1 --seed 2 --certify --json > b.json
  "$SOTTO" predict --head h.safetensors --features q.npy --smooth 1 --certify --json > c.json
  "$SOTTO" predict --head h.safetensors --features q.npy --smooth 1 --certify --json > d.json
  run -1 cmp -s a.json b.json
  run -1 cmp -s c.json d.json
}

@test "the curve is a page; answers without radii have none" {
  smooth --certify --compare --labels t.npy -o a.json > /dev/null
  "$SOTTO" report a.json -o curve.html
  grep -q '<svg' curve.html
  grep -q 'Share of rows with the right answer and at least this radius' curve.html
  grep -q 'smoothing gives no membership guarantee' curve.html
  smooth --labels t.npy -o b.json > /dev/null
  run "$SOTTO" report b.json -o none.html
  [ "$status" -eq 65 ]
  [[ $output == *"which has no radii"* ]]
  [ ! -e none.html ]
}

@test "every member of a document stands in its schema" {
  command -v python3 > /dev/null || skip "python3 is not installed"
  smooth --json > a.json
  smooth --certify --compare --labels t.npy --json > b.json
  "$BATS_TEST_DIRNAME/../../../../../tools/check-schema" a.json b.json
}

@test "progress is shown" {
  smooth --n 100 --progress always -o shown.json > /dev/null 2> said
  tr '\r' '\n' < said | grep -q '^smoothing .*100 %'
}

@test "heads and networks trained with noise say so" {
  "$SOTTO" head --features X.npy --labels y.npy --augment-noise 1 --epochs 5 --quiet -o n.safetensors
  "$SOTTO" inspect n.safetensors --json | tr -d '\\' | grep -q '"augment_noise":1,'
  "$SOTTO" train --data X.npy:y.npy --model mlp --hidden 4 --epochs 2 --batch 8 --augment-noise 0.5 --dtype f32 --backend dnnl --quiet -o m.safetensors
  "$SOTTO" inspect m.safetensors --json | tr -d '\\' | grep -q '"augment_noise":0.5'
  "$SOTTO" predict --model m.safetensors --features q.npy --smooth 0.5 --certify --seed 1 --n 200 -o m.json
  refused 65 "augment_noise needs trainer adam or sgd" "$SOTTO" head --features X.npy --labels y.npy --classes 2 --trainer convex --augment-noise 1 -o out.safetensors
  refused 65 "augment_noise must be at least 0" "$SOTTO" train --data X.npy:y.npy --model mlp --augment-noise -1 -o out.safetensors
}

@test "a command is smoothed too" {
  [ -n "$SOTTO_SERVE_MODEL" ] || skip "no model to serve"
  PATH=$(dirname "$SOTTO_SERVE_MODEL"):$PATH # a command is split at spaces, of which its folder may have some
  run "$SOTTO" predict --target-command "serve_model softmax 3" --features q.npy --smooth 1 --n 50 --json
  [ "$status" -eq 0 ]
  [[ $output == *'"classes":3'* ]]
  [[ $output != *'"seed"'* ]]
}

@test "what makes no sense is refused" {
  refused 64 "--certify needs --smooth" "$SOTTO" predict --head h.safetensors --features q.npy --certify -o out.json
  refused 65 "--smooth must be > 0 (got 0)" "$SOTTO" predict --head h.safetensors --features q.npy --smooth 0 -o out.json
  refused 64 "--smooth must be finite and > 0 (got -1)" "$SOTTO" predict --head h.safetensors --features q.npy --smooth -1 -o out.json
  refused 64 "--alpha must be" smooth --alpha 0.5 -o out.json
  refused 64 "--noise" smooth --noise cauchy -o out.json
  refused 64 "must end in .json, .csv or .npy" smooth -o out.txt
  refused 64 "--logits cannot be combined with --smooth" smooth --logits -o out.npy
  refused 64 "--radii needs --certify" smooth --radii 0,1 -o out.json
  refused 64 "--radii must be finite and >= 0 (got -1)" smooth --certify --radii 0,-1 -o out.json
  refused 64 "exactly one of --model, --head and --target-command" "$SOTTO" predict --features q.npy --smooth 1 -o out.json
  refused 65 "compare adds a second radius" smooth --compare -o out.json
  refused 65 "label 7 of row 2" smooth --labels bad.npy -o out.json
  refused 65 "40 labels for 3 records" smooth --labels y.npy -o out.json
  refused 66 "none.safetensors" "$SOTTO" predict --model none.safetensors --features q.npy --smooth 1 -o out.json
}
