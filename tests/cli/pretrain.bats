#!/usr/bin/env bats
# pretrain and embed from the outside: files, kill -9 and resume, messages, exit codes.

bats_require_minimum_version 1.5.0

setup() {
  dir=$(mktemp -d)
  cd "$dir"
  data=synthetic-images-n28
  common=(--data "$data" --batch 4 --seed 3 --dtype f32 --backend dnnl --threads 2 --quiet)
}
teardown() { cd /; rm -rf "$dir"; }

@test "pretrain then embed writes standard files" {
  run "$SOTTO" pretrain "${common[@]}" --epochs 1 --metrics m.jsonl -o e.safetensors --json
  [ "$status" -eq 0 ]
  [[ "$output" == '{"schema": "sotto.pretrain/1", "method": "simclr", "steps": 7, '* ]]
  [ -f e.safetensors ]
  [ ! -e e.safetensors.checkpoint ]
  [ "$(grep -c '"name":"loss"' m.jsonl)" -eq 1 ]
  run "$SOTTO" embed --encoder e.safetensors --data "$data" --split test -o X.npy --labels-out y.npy --quiet
  [ "$status" -eq 0 ]
  [ "$output" = "4 embeddings of width 128" ]
  [ "$(stat -c %s X.npy)" -eq $((128 + 4 * 128 * 4)) ]
  [ "$(stat -c %s y.npy)" -eq $((128 + 4 * 8)) ]
  run "$SOTTO" embed --encoder e.safetensors --data "$data" --indices y.npy -o Z.npy --quiet # labels are valid rows too
  [ "$status" -eq 0 ]
}

@test "kill -9 at any moment, then the same command: the same bytes" {
  long=(--data "$data" --batch 8 --seed 3 --dtype f32 --backend dnnl --threads 2 --quiet --epochs 24)
  "$SOTTO" pretrain "${long[@]}" -o whole.safetensors
  killed=0
  for pause in 0 0.03 0.1; do
    before=$(stat -c %i cut.safetensors.checkpoint 2>/dev/null || :)
    "$SOTTO" pretrain "${long[@]}" -o cut.safetensors 3>&- &
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
  "$SOTTO" pretrain "${long[@]}" -o cut.safetensors
  cmp whole.safetensors cut.safetensors
}

@test "the first SIGTERM finishes the step, writes a checkpoint and exits 143" {
  "$SOTTO" pretrain "${common[@]}" --epochs 5000 -o e.safetensors 2> err 3>&- &
  pid=$!
  for i in $(seq 100); do [ -e e.safetensors.checkpoint ] && break; sleep 0.1; done
  kill -TERM "$pid"
  code=0
  wait "$pid" || code=$?
  [ "$code" -eq 143 ]
  grep -q "sotto: error: pretrain: stopped after step" err
  [ -e e.safetensors.checkpoint ]
  [ ! -e e.safetensors ]
  run "$SOTTO" pretrain "${common[@]}" --epochs 4999 -o e.safetensors
  [ "$status" -eq 65 ]
  [[ "$output" == *"this checkpoint cannot be continued, as it was made with epochs 5000 but now epochs is 4999"* ]]
  run "$SOTTO" pretrain "${common[@]}" --epochs 1 --fresh -o e.safetensors
  [ "$status" -eq 0 ]
}

# expect STATUS TEXT ARGUMENTS...: pretrain refuses, nothing is left behind
expect() {
  run "$SOTTO" pretrain --data "$data" -o e.safetensors --quiet "${@:3}"
  [ "$status" -eq "$1" ] || { echo "$output"; return 1; }
  [[ "${lines[0]}" == "sotto: error: "*"$2"* ]] || { echo "$output"; return 1; }
  [ ! -e e.safetensors ]
  [ ! -e e.safetensors.checkpoint ]
}

@test "bad options are one clear line" {
  expect 65 "batch 256 is larger than the 28 images to train on"
  expect 65 "batch must be at least 2 (got 1)" --batch 1
  expect 65 "epochs must be at least 1 and at most 1000000 (got 0)" --batch 4 --epochs 0
  expect 65 "temperature must be finite and > 0 (got 0)" --batch 4 --temperature 0
  expect 65 "model 'keras-simcrl' is unknown; expected " --batch 4 --encoder keras-simcrl
  expect 65 "method 'sim' is unknown; expected rotation, simclr" --batch 4 --method sim
  expect 65 "norm_scope leaf cannot be given with order fast; give order exact" --batch 4 --encoder resnet8 --norm-scope leaf --order fast
  expect 65 "norm_scope leaf: the network has no batch normalisation that is trained; omit it" --batch 4 --norm-scope leaf
  expect 64 "--indices and --split both choose rows" --indices x.npy --split test
  expect 64 "--split: 'tets' is unknown; expected train, test or all" --split tets
  expect 66 "x.npy" --indices x.npy
  run "$SOTTO" pretrain --data "$data" --batch 4 --epochs 1 --dtype f32 --backend dnnl --quiet -o missing/e.safetensors
  [ "$status" -eq 73 ]
  mkdir e.safetensors # refused before it trains
  run "$SOTTO" pretrain --data "$data" --batch 4 --epochs 1 --quiet -o e.safetensors
  [ "$status" -eq 73 ]
  [ "$output" = "sotto: error: e.safetensors: is a folder; expected a file name to write" ]
  [ ! -e e.safetensors.checkpoint ]
  rmdir e.safetensors
  run "$SOTTO" pretrain --batch 4
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: pretrain: --data is missing; see 'sotto pretrain --help'" ]
}

@test "embed refuses what it cannot use" {
  run "$SOTTO" embed --encoder none.safetensors --data "$data" -o X.npy
  [ "$status" -eq 66 ]
  run "$SOTTO" embed --data "$data" -o X.npy
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: embed: give exactly one of --encoder FILE and --random NAME" ]
  "$SOTTO" embed --random keras-simclr --data "$data" -o X.npy --quiet
  run "$SOTTO" embed --random keras-simclr --data "$data" --indices X.npy -o Y.npy --quiet
  [ "$status" -eq 65 ]
  [[ "$output" == "sotto: error: X.npy: has 2 dimensions; expected a list of row numbers (1 dimension)" ]]
  run "$SOTTO" embed --encoder X.npy --data "$data" -o Y.npy --quiet
  [ "$status" -eq 65 ]
  [ ! -e Y.npy ]
}

@test "embed --evaluate reports k-NN and a linear head" {
  run "$SOTTO" embed --random keras-simclr --data synthetic-images-n140 --evaluate --quiet --json
  [ "$status" -eq 0 ]
  [[ "$output" == *'"evaluation": {"train_rows": 120, "test_rows": 20, "knn_accuracy": 0.'* ]]
  run "$SOTTO" embed --encoder scattering --data synthetic-images-n140 --evaluate --quiet
  [[ "${lines[1]}" =~ \(balanced\ 0\.[0-9]{4}\).*'tested on 20 others, of which class '[0-9]' has a share of 0.'[1-9] ]] || { echo "$output"; false; }
}

@test "fixed features need no encoder file" {
  run "$SOTTO" embed --encoder scattering --data "$data" --grid 2 -o X.npy --labels-out y.npy --quiet
  [ "$status" -eq 0 ]
  [[ "$output" == *" embeddings of width 324" ]]
  run "$SOTTO" embed --encoder scattering --groups 10 --data "$data" -o Z.npy
  [ "$status" -eq 65 ]
  [ ! -e Z.npy ]
  [[ "$output" == *"scattering: 10 groups do not divide the "*" channels"* ]]
  run "$SOTTO" embed --random keras-simclr --groups 2 --data "$data" -o Z.npy
  [ "$status" -eq 64 ]
  [[ "$output" == *"embed: --groups needs --encoder scattering"* ]]
  run "$SOTTO" embed --random keras-simclr --grid 2 --data "$data" -o Z.npy
  [ "$status" -eq 64 ]
  [[ "$output" == *"embed: --grid needs --blocks or --encoder scattering"* ]]
  run "$SOTTO" embed --encoder scattering --blocks 1 --data "$data" -o Z.npy
  [ "$status" -eq 64 ]
  run "$SOTTO" embed --random keras-simclr --blocks 5 --data "$data" -o Z.npy
  [ "$status" -eq 65 ]
  [[ "$output" == *"the encoder 'keras-simclr' has 4 blocks; expected at most that, not 5"* ]]
  [ ! -e Z.npy ]
}

@test "the blocks of an encoder, of image and mirror image, as further features" {
  run "$SOTTO" embed --random keras-simclr --blocks 3 --grid 2 --mirror --data "$data" -o X.npy --quiet
  [[ "$output" == *" embeddings of width 1280" ]] || { echo "$output"; false; } # (4 + 4 + 1 + 1) x 128
}

@test "columns are standardised by public embeddings" {
  "$SOTTO" embed --encoder scattering --mirror --data "$data" --grid 2 -o P.npy --quiet
  run "$SOTTO" embed --encoder scattering --mirror --data "$data" --grid 2 --standardise P.npy -o X.npy --quiet
  [ "$status" -eq 0 ]
  [[ "$output" == *" embeddings of width 162" ]]
  run -1 cmp -s X.npy P.npy
  run "$SOTTO" embed --encoder scattering --data "$data" --grid 2 --standardise P.npy -o Z.npy
  [ "$status" -eq 65 ]
  [ ! -e Z.npy ]
  [[ "$output" == *"--standardise: P.npy does not have shape (N, 324); expected embeddings by this encoder"* ]]
}

@test "predict measures accuracy where labels are given" {
  "$SOTTO" embed --encoder scattering --data "$data" --grid 2 -o X.npy --labels-out y.npy --quiet
  "$SOTTO" head --features X.npy --labels y.npy --epochs 30 -o h.safetensors --quiet
  run "$SOTTO" predict --head h.safetensors --features X.npy --labels y.npy --quiet
  [ "$status" -eq 0 ]
  [[ "${lines[0]}" =~ ^accuracy\ [01]\.[0-9]{4}\ \[.*\]\ \(95\ %\)\ on\ 28\ records\;\ who\ always\ answers\ class\ [0-9]:\ 0\.[0-9]{4}$ ]]
  [[ "${lines[1]}" =~ ^balanced\ accuracy\ [01]\.[0-9]{4}\ \[.*\],\ mean\ area\ under\ the\ ROC\ curves\ of\ the\ classes\ [01]\.[0-9]{4}$ ]]
  [ "${lines[2]}" = "confusion matrix (rows: true class, columns: answer)" ]
  [ "$(tail -n 10 <<< "$output" | awk '{ for (i = 2; i <= NF; i++) all += $i; right += $(NR + 1) } END { printf "%d %.4f", all, right / all }')" = "28 ${lines[0]:9:6}" ]
  run "$SOTTO" predict --head h.safetensors --features X.npy --labels y.npy -o p.npy --json --quiet
  [[ "$output" == *'"accuracy": {"estimate": '*'"majority": {"class": '*'"balanced_accuracy": {'*'"auc": {"estimate": '*'"lower": null'*'"confusion": [['* ]]
  [ -f p.npy ]
}

@test "--plan times steps and writes nothing" {
  plan=(pretrain --data synthetic-images-n64 --batch 32 --leaf 8 --dtype f32 --backend dnnl --threads 1 --plan --quiet)
  run "$SOTTO" "${plan[@]}"
  [ "$status" -eq 0 ]
  [[ "${lines[0]}" == "20 steps of 32 images on 1 thread, "*" MiB; nothing was trained" ]]
  [[ "$output" == *"4 leaves of 8 images"*"By a model, not measured"*"at 10 Gbit/s: "* ]]
  [ "$(echo "$output" | grep -cE '^ +[124] ')" -eq 3 ]
  "$SOTTO" "${plan[@]}" --json | grep -q '"schema": "sotto.pretrain-plan/1", "steps": 20, "batch": 32, "order": "exact", "leaf": 8, "leaves": 4'
  run "$SOTTO" pretrain --data synthetic-images-n64 --batch 32 --dtype f32 --backend dnnl --threads 1 --plan --quiet --order fast
  [[ "$output" == *"order fast: one process; with --order exact the same bits come from any number of ranks"* ]]
  run "$SOTTO" "${plan[@]}" -o plan.safetensors
  [ "$status" -eq 64 ]
  [[ "${lines[0]}" == *"pretrain: --plan trains nothing; omit --output" ]]
  [ ! -e plan.safetensors ]
}
