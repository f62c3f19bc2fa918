#!/usr/bin/env bats
# Two runs on one checkpoint: the second is refused in one line and leaves and charges nothing; flock(1) stands for the first.

setup() {
  cd "$BATS_TEST_TMPDIR"
  export XDG_DATA_HOME=$PWD/data
}

# busy FILE COMMAND...: the command is refused while FILE's lock is held, and works afterwards
busy() {
  local file=$1
  shift
  flock "$file.checkpoint.lock" sleep 600 &
  local holder=$!
  for _ in $(seq 600); do flock -n "$file.checkpoint.lock" true || break; sleep 0.05; done
  echo another > "$file.checkpoint"
  run "$SOTTO" "$@" --fresh -o "$file"
  [ "$status" -eq 75 ] || { echo "--fresh: $status $output"; pkill -P $holder sleep; false; }
  [ "$(< "$file.checkpoint")" = another ] # the run that has it goes on from it
  rm "$file.checkpoint"
  run "$SOTTO" "$@" -o "$file"
  pkill -P $holder sleep
  wait $holder || true
  [ "$status" -eq 75 ] || { echo "$status $output"; false; }
  [[ "${lines[0]}" == *"$file.checkpoint: another run ("*") continues this checkpoint" ]]
  [[ "${lines[1]}" == "hint: wait for it to end, or give this run another --checkpoint" ]]
  [ ! -e "$file" ]
  [ ! -e "$file.checkpoint" ]
  [ ! -e l.jsonl ] || ! grep -q '"event":"reserve"' l.jsonl
  "$SOTTO" "$@" -o "$file"
  [ -e "$file" ]
  [ ! -e "$file.checkpoint.lock" ]
}

@test "plain training, pre-training and generators" {
  busy t.safetensors train --data synthetic-blobs-n64 --model mlp --hidden 4 --epochs 1 --dtype f32 --backend dnnl --threads 1 --quiet
  busy e.safetensors pretrain --data synthetic-images-n64 --batch 16 --epochs 1 --dtype f32 --backend dnnl --threads 1 --quiet
  busy g.safetensors generate train --model dcgan --width 4 --data synthetic-images-n64 --batch 20 --steps 2 --threads 1 --quiet
}

@test "private training of networks and heads: nothing is charged" {
  private=(--noise-multiplier 2 --delta 1e-3 --ledger l.jsonl --quiet)
  busy d.safetensors train --data synthetic-blobs-n64 --model mlp --hidden 4 --dp-sgd --steps 3 --batch 16 --dtype f32 --threads 1 "${private[@]}"
  rm l.jsonl
  "$SOTTO" data split synthetic-blobs-d8-k4-n400 --parts a=400 -o b > /dev/null
  busy h.safetensors head --features b/a-features.npy --labels b/a-labels.npy --classes 4 --trainer dp-sgd --epochs 1 --batch 16 "${private[@]}"
}
