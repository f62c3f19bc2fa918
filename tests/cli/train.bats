#!/usr/bin/env bats
# train and predict --model from the outside: files, kill -9 and resume, messages, exit codes.

setup() {
  dir=$(mktemp -d)
  cd "$dir"
  data=synthetic-images-n56
  common=(--data "$data" --hidden 4,8 --batch 8 --seed 3 --dtype f32 --backend dnnl --threads 2 --quiet)
}
teardown() { cd /; rm -rf "$dir"; }

@test "train writes a model that predict and inspect read" {
  run "$SOTTO" train "${common[@]}" --split train --epochs 1 --metrics m.jsonl -o m.safetensors --json
  [ "$status" -eq 0 ]
  [[ "$output" == '{"schema": "sotto.train/1", "model": "cnn", "parameters": 6410, "classes": 10, "steps": 6, '* ]] || { echo "$output"; false; }
  [ -f m.safetensors ]
  [ ! -e m.safetensors.checkpoint ]
  [ "$(grep -c '"name":"loss"' m.jsonl)" -eq 1 ]
  run "$SOTTO" predict --model m.safetensors --data "$data" --split test -o p.npy
  [ "$status" -eq 0 ]
  [ "$output" = "p.npy: probabilities of 8 records, 10 classes" ]
  [[ "$("$SOTTO" inspect m.safetensors)" == *"model: cnn"*"statement: none: private records trained this network"* ]]
}

@test "the summary states which dtype and backend auto chose, and why" {
  tiny=(--data "$data" --hidden 4,8 --batch 8 --epochs 1 --threads 2 --quiet -o m.safetensors)
  run "$SOTTO" train "${tiny[@]}"
  [ "$status" -eq 0 ]
  [ "${lines[1]}" = "f32 on dnnl (too short a run to measure)" ]
  [[ "${lines[0]}" == *" over the last epoch (who always answers class "?": 0."* ]]
  "$SOTTO" embed --data "$data" --encoder scattering --labels-out y.npy -o x.npy --quiet > said
  sed -n 's/.*who always answers class \([0-9]\): \(0\.[0-9]*\).*/\1 \2/p' <<< "${lines[0]}" > found
  python3 -c 'import sys
y = list(open("y.npy", "rb").read()[-8 * 56::8])
most = max(range(10), key=y.count)
print(most, "%.4f" % (y.count(most) / 56))' | diff - found
  run "$SOTTO" train "${tiny[@]}" --dtype f32 --backend ref
  [ "${lines[1]}" = "f32 on ref (as asked)" ]
  run "$SOTTO" train "${tiny[@]}" --json
  [[ "$output" == *'"dtype": "f32", "backend": "'*'", "choice": "short", "measured": [], "weights_sha256": '* ]]
}

@test "predict answers a data set and its feature rows alike" {
  "$SOTTO" train "${common[@]}" --epochs 1 -o m.safetensors
  "$SOTTO" data split "$data" --parts some=20 -o parts
  "$SOTTO" predict --model m.safetensors --data "$data" --indices parts/some-rows.npy --logits -o a.npy
  "$SOTTO" predict --model m.safetensors --features parts/some-features.npy --logits -o b.npy
  cmp a.npy b.npy
}

@test "a table of pictures trains like the set it came from" {
  "$SOTTO" data split "$data" --parts all=56 -o parts
  "$SOTTO" train "${common[@]}" --indices parts/all-rows.npy --epochs 2 --crop 2 -o a.safetensors
  "$SOTTO" train "${common[@]/$data/parts/all-features.npy:parts/all-labels.npy}" --image 1,28,28 --epochs 2 --crop 2 -o b.safetensors
  first=$("$SOTTO" inspect a.safetensors | grep weights_sha256)
  [ "$("$SOTTO" inspect b.safetensors | grep weights_sha256)" = "$first" ]
}

@test "kill -9 at any moment, then the same command: the same bytes" {
  long=("${common[@]}" --epochs 40 --flip)
  "$SOTTO" train "${long[@]}" -o whole.safetensors
  killed=0
  for pause in 0 0.03 0.1; do
    before=$(stat -c %i cut.safetensors.checkpoint 2>/dev/null || :)
    "$SOTTO" train "${long[@]}" -o cut.safetensors 3>&- &
    pid=$!
    for i in $(seq 1000); do # until it has written another checkpoint (or has ended)
      now=$(stat -c %i cut.safetensors.checkpoint 2>/dev/null || :)
      [ -n "$now" ] && [ "$now" != "$before" ] && break
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.01
    done
    sleep "$pause"
    if kill -9 "$pid" 2>/dev/null; then killed=$((killed + 1)); fi
    wait "$pid" || true
  done
  [ "$killed" -ge 1 ]
  "$SOTTO" train "${long[@]}" -o cut.safetensors
  cmp whole.safetensors cut.safetensors
}

@test "the first SIGTERM finishes the step, writes a checkpoint and exits 143" {
  "$SOTTO" train "${common[@]}" --epochs 50000 -o m.safetensors 2> err 3>&- &
  pid=$!
  for i in $(seq 100); do [ -e m.safetensors.checkpoint ] && break; sleep 0.1; done
  kill -TERM "$pid"
  code=0
  wait "$pid" || code=$?
  [ "$code" -eq 143 ]
  grep -q "sotto: error: train: stopped after step" err
  [ -e m.safetensors.checkpoint ]
  [ ! -e m.safetensors ]
  run "$SOTTO" train "${common[@]}" --epochs 49999 -o m.safetensors
  [ "$status" -eq 65 ]
  [[ "$output" == *"this checkpoint cannot be continued, as it was made with epochs 50000 but now epochs is 49999"* ]]
  run "$SOTTO" train "${common[@]}" --epochs 1 --fresh -o m.safetensors
  [ "$status" -eq 0 ]
}

# expect STATUS TEXT ARGUMENTS...: train refuses, nothing is left behind
expect() {
  run "$SOTTO" train --data "$data" -o m.safetensors --quiet "${@:3}"
  [ "$status" -eq "$1" ] || { echo "$output"; return 1; }
  [[ "${lines[0]}" == "sotto: error: "*"$2"* ]] || { echo "$output"; return 1; }
  [ ! -e m.safetensors ]
  [ ! -e m.safetensors.checkpoint ]
}

@test "bad options are one clear line" {
  expect 65 "batch 64 is larger than the 56 records to train on"
  expect 65 "epochs must be at least 1" --batch 8 --epochs 0
  expect 65 "model 'resnet9' is unknown; expected " --batch 8 --model resnet9
  expect 65 "momentum cannot be given for optimizer" --batch 8 --momentum 0.9
  expect 65 "contains images of 1x28x28; expected 3x32x32" --batch 8 --image 3,32,32
  expect 64 "--image: '3,32' is not a shape; expected CHANNELS,HEIGHT,WIDTH such as 3,32,32" --batch 8 --image 3,32
  expect 64 "--indices and --split both choose rows" --indices x.npy --split test
  expect 66 "x.npy" --indices x.npy
  run "$SOTTO" train --data "$data" --batch 8 --epochs 1 --dtype f32 --backend dnnl --quiet -o missing/m.safetensors
  [ "$status" -eq 73 ]
  run "$SOTTO" train --batch 8
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: train: --data is missing; see 'sotto train --help'" ]
}

# refused STATUS TEXT ARGUMENTS...: predict refuses
refused() {
  run "$SOTTO" predict -o no.npy "${@:3}"
  [ "$status" -eq "$1" ] || { echo "$output"; return 1; }
  [[ "$output" == "sotto: error: "*"$2"* ]] || { echo "$output"; return 1; }
  [ ! -e no.npy ]
}

@test "predict refuses what a model cannot answer" {
  "$SOTTO" train "${common[@]}" --epochs 1 -o m.safetensors
  refused 64 "predict: give exactly one of --features X.npy and --data SET" --model m.safetensors
  refused 64 "predict: --model is a whole network and cannot be combined with --head or --encoder" --model m.safetensors --head h.safetensors
  refused 66 "none.safetensors" --model none.safetensors --data "$data"
  refused 65 "the network was trained on 1x28x28" --model m.safetensors --data synthetic-blobs-n20
  head -c 3000 m.safetensors > cut.safetensors
  refused 65 "cut.safetensors" --model cut.safetensors --data "$data"
  "$SOTTO" predict --model m.safetensors --data "$data" -o p.npy
  refused 65 "p.npy has 10 columns but m.safetensors expects 784" --model m.safetensors --features p.npy
}
