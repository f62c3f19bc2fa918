#!/usr/bin/env bats
# shards: 2
# sotto pretrain --dp-sgd: an encoder of private images, its certificate, and what follows from it for those who use it.

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  root=$BATS_TEST_DIRNAME/../..
  export XDG_DATA_HOME=$PWD/home SOTTO_DATA_DIR=$PWD/data SOTTO_CACHE_DIR=/dev/null
}
pretrain() { "$SOTTO" pretrain --data synthetic-images-n64 --dataset-id scans --encoder resnet8 --dtype f32 --backend dnnl --batch 16 --quiet "$@"; }
refused() { # CODE TEXT COMMAND...
  local code=$1 text=$2
  shift 2
  run "$@"
  [ "$status" -eq "$code" ] && [[ "$output" == *"$text"* ]] || { echo "exit $status: $output"; return 1; }
}

@test "an encoder of private images is certified, verified twice, and embeds" {
  "$SOTTO" pretrain --data synthetic-images-n64 --dp-sgd --encoder resnet8 --dtype f32 --backend dnnl --batch 16 --epochs 2 --epsilon 3 --delta 1e-3 -o e.safetensors --quiet > line
  grep -qF "(3, 0.001)-differentially private under replace-one" line
  ledger=home/sotto/ledger/synthetic-images-n64.jsonl
  "$SOTTO" verify e.safetensors --ledger "$ledger" > said
  grep -q "noise, rate and steps agree with the file's recipe" said
  python3 -I "$root/verifier/sotto-verify.py" e.safetensors --ledger "$ledger" > said
  grep -q "epsilon re-derived from rate, noise and 8 steps" said
  "$SOTTO" embed --data synthetic-images-n64 --encoder e.safetensors -o x.npy --quiet
  [ "$(od -An -c -N6 x.npy | tr -d ' ')" = '223NUMPY' ]
  # the average of the weights, another clip, so many steps: each is in the recipe
  "$SOTTO" pretrain --data synthetic-images-n64 --dp-sgd --method rotation --encoder keras-simclr --dtype f32 --backend dnnl --batch 16 --steps 3 --ema 0.9 \
    --clipping automatic --noise-multiplier 4 --adjacency zero-out -o k.safetensors --quiet > line
  grep -q "under zero-out" line
  "$SOTTO" verify k.safetensors --ledger "$ledger" > /dev/null
}

@test "what cannot be is refused in one line, and nothing is charged" {
  p="$SOTTO pretrain --data synthetic-images-n64 -o x.safetensors"
  # shellcheck disable=SC2086
  {
    refused 64 "expected rotation" $p --dp-sgd --method simclr --epsilon 3
    refused 64 "--temperature makes no difference to --dp-sgd" $p --dp-sgd --temperature 1 --epsilon 3
    refused 64 "--epsilon needs --dp-sgd" $p --epsilon 3
    refused 64 "give exactly one of" $p --dp-sgd
    refused 64 "--steps or --epochs" $p --dp-sgd --epsilon 3 --steps 3 --epochs 2
    refused 65 "mobilenetv2" $p --dp-sgd --epsilon 3 --encoder mobilenetv2 --batch 16 || refused 69 "batch norm" $p --dp-sgd --epsilon 3 --encoder mobilenetv2 --batch 16
    refused 64 "needs an imported data set" "$SOTTO" pretrain --data x.npy:y.npy --dp-sgd --epsilon 3 -o x.safetensors
  }
  [ ! -e home/sotto/ledger ]
}
