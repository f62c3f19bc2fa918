#!/usr/bin/env bats
# Two runs on one checkpoint: the second is refused in one line and leaves and charges nothing; flock(1) stands for the first.

load ../support/busy

setup() {
  cd "$BATS_TEST_TMPDIR"
  export XDG_DATA_HOME=$PWD/data
}

@test "plain training and pre-training" {
  busy t.safetensors train --data synthetic-blobs-n64 --model mlp --hidden 4 --epochs 1 --dtype f32 --backend dnnl --threads 1 --quiet
  busy e.safetensors pretrain --data synthetic-images-n64 --batch 16 --epochs 1 --dtype f32 --backend dnnl --threads 1 --quiet
}

@test "private training of networks and heads: nothing is charged" {
  private=(--noise-multiplier 2 --delta 1e-3 --ledger l.jsonl --quiet)
  busy d.safetensors train --data synthetic-blobs-n64 --model mlp --hidden 4 --dp-sgd --steps 3 --batch 16 --dtype f32 --threads 1 "${private[@]}"
  rm l.jsonl
  "$SOTTO" data split synthetic-blobs-d8-k4-n400 --parts a=400 -o b > /dev/null
  busy h.safetensors head --features b/a-features.npy --labels b/a-labels.npy --classes 4 --trainer dp-sgd --epochs 1 --batch 16 "${private[@]}"
}
