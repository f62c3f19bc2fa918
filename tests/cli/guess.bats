#!/usr/bin/env bats
# A name that is nearly one of those that are expected: the error ends in the one that was meant.

setup() {
  cd "$BATS_TEST_TMPDIR"
  export XDG_DATA_HOME=$PWD/home SOTTO_CACHE_DIR=/dev/null
  "$SOTTO" data split synthetic-blobs-d8-k4-n90 --parts a=60 -o b > /dev/null
}

meant() { # NAME command ...
  local expected="; did you mean '$1'?"
  run "$SOTTO" "${@:2}"
  if [ "$1" = none ]; then
    [ "$status" -ne 0 ]
    [[ "$output" != *"did you mean"* ]]
  else
    [[ "$output" == *"$expected" ]]
  fi || { echo "$*: $output"; failed=yes; }
}

@test "names of every kind" {
  one=(--features b/a-features.npy --labels b/a-labels.npy --classes 4 -o out)
  private=(head "${one[@]}" --trainer dp-sgd --noise-multiplier 1)
  images=(--data synthetic-images-n300 -o out)
  meant dp-sgd head "${one[@]}" --trainer dpsgd
  meant covariance head "${one[@]}" --trainer covarance
  meant adam head "${one[@]}" --trainer adm
  meant none head "${one[@]}" --trainer xyz
  meant gaussian "${private[@]}" --noise gausian
  meant zero-out "${private[@]}" --adjacency zeroout
  meant mislabelled head "${one[@]}" --canaries 5 --canary-kind mislabeled
  meant laplace protect --vector b/a-features.npy --mechanism lap --scale 1 --l1 1 -o out.npy
  meant gaussian account --mechanism gausian --noise-multiplier 1 --sample-rate 1 --steps 1 --delta 1e-5
  meant basic account --rule basi
  meant resnet8 pretrain "${images[@]}" --encoder resnet-8
  meant simclr pretrain "${images[@]}" --method simcl
  meant keras pretrain "${images[@]}" --loss kears
  meant simclr pretrain "${images[@]}" --augmentation simclrr
  meant tanh-cnn train "${images[@]}" --model tahn-cnn
  meant sgd train "${images[@]}" --model cnn --optimizer sdg
  meant bf16 train "${images[@]}" --model cnn --dtype bf15
  meant always train "${images[@]}" --model cnn --progress allways
  "$SOTTO" head "${one[@]:0:6}" --epochs 1 -o h.safetensors > /dev/null
  meant shokri attack shokry --target h.safetensors --member-features b/a-features.npy --member-labels b/a-labels.npy \
    --nonmember-features b/a-features.npy --nonmember-labels b/a-labels.npy
  seq 0 9 > losses.csv
  meant loss audit --member-losses losses.csv --nonmember-losses losses.csv --attack los
  meant split data splt b
  meant new key nwe
  [ ! -e out ]
  [ -z "${failed-}" ]
}

@test "an error that lists no names ends as it did" {
  meant none head --features b/a-features.npy --labels b/a-labels.npy --epochs x -o out
  meant none head --features b/none.npy --labels b/a-labels.npy -o out
  meant none account --mechanism gaussian --noise-multiplier -1 --delta 1e-5
  [ -z "${failed-}" ]
}
