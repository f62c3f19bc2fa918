#!/usr/bin/env bats
# train --from from the outside: what is trained, what it says, what it refuses before it charges; features side by side.

setup() {
  dir=$(mktemp -d)
  cd "$dir"
  export XDG_DATA_HOME="$dir/home"
  "$SOTTO" data split synthetic-images-n64 --parts public=30,private=34 --seed 1 -o parts --quiet > /dev/null
  "$SOTTO" pretrain --data synthetic-images-n64 --indices parts/public-rows.npy --encoder resnet8 --epochs 1 --batch 10 --dtype f32 --backend dnnl --threads 1 \
    --quiet -o e.safetensors > /dev/null
  common=(--data synthetic-images-n64 --batch 17 --epochs 2 --optimizer sgd --lr 0.1 --dtype f32 --backend dnnl --threads 2 --quiet)
  private=(--dp-sgd --epsilon 5 --delta 1e-3 --ledger l.jsonl)
}
teardown() { cd /; rm -rf "$dir"; }

@test "a private fine-tuning lists what it trained, and verify agrees" {
  run "$SOTTO" train "${common[@]}" --indices parts/private-rows.npy --from e.safetensors --freeze 2 --warm-up 1 "${private[@]}" --encoder-by "its makers" -o m.safetensors
  [ "$status" -eq 0 ]
  [[ "$output" == *"trained: "*" of 7"*" weights; encoder: public, by its makers; no record that trained it is among the private ones"* ]] || { echo "$output"; false; }
  grep -q '"tensors": "encoder.layer3.0.shortcut.weight, ' m.safetensors.certificate.json
  run "$SOTTO" verify m.safetensors --ledger l.jsonl
  [ "$status" -eq 0 ]
  [[ "$output" == *"weights were trained; the encoder is stated to be public, by its makers"* ]]
  "$SOTTO" predict --model m.safetensors --data synthetic-images-n64 -o p.npy --quiet
}

@test "a certificate that names other tensors, another encoder or fewer weights is refused" {
  "$SOTTO" train "${common[@]}" --indices parts/private-rows.npy --from e.safetensors --freeze all "${private[@]}" -o m.safetensors
  cp m.safetensors.certificate.json kept.json
  for change in 's/classifier.weight, classifier.bias/classifier.bias/' 's/"encoder_sha256": "./"encoder_sha256": "x/' 's/"trained": [0-9]*/"trained": 1/' 's/"fine_tuning"/"remark"/'; do
    sed "$change" kept.json > m.safetensors.certificate.json
    ! cmp -s kept.json m.safetensors.certificate.json
    run "$SOTTO" verify m.safetensors
    [ "$status" -eq 1 ] || [ "$status" -eq 65 ] || { echo "$change: $status $output"; false; }
  done
}

@test "an encoder of private records is refused before anything is charged" {
  run "$SOTTO" train "${common[@]}" --from e.safetensors "${private[@]}" -o m.safetensors
  [ "$status" -eq 65 ]
  [[ "$output" == *"e.safetensors was trained on row "*" of 'synthetic-images-n64', which is to be private"* ]] || { echo "$output"; false; }
  rm e.safetensors.provenance.json
  run "$SOTTO" train "${common[@]}" --indices parts/private-rows.npy --from e.safetensors "${private[@]}" -o m.safetensors
  [ "$status" -eq 65 ]
  [[ "$output" == *"--encoder-by"* ]]
  [ ! -e l.jsonl ] && [ ! -e m.safetensors ]
}

@test "batch norm that is trained is refused privately, and fine-tuned without privacy" {
  run "$SOTTO" train "${common[@]}" --indices parts/private-rows.npy --from e.safetensors --freeze none "${private[@]}" -o m.safetensors
  [ "$status" -ne 0 ]
  [[ "$output" == *"frozen batch norm"* ]] || { echo "$output"; false; }
  [ ! -e l.jsonl ]
  run "$SOTTO" train "${common[@]}" --indices parts/private-rows.npy --from e.safetensors --freeze none -o m.safetensors
  [ "$status" -eq 0 ]
  [[ "$output" == *"m.safetensors: resnet8 of "* ]] || { echo "$output"; false; }
  run "$SOTTO" train "${common[@]}" --freeze all -o n.safetensors
  [ "$status" -eq 65 ]
  [[ "$output" == *"needs a pre-trained encoder"* ]]
  run "$SOTTO" train "${common[@]}" --from e.safetensors --encoder-by me -o n.safetensors
  [ "$status" -eq 64 ]
}

@test "features of the same images stand side by side, of other images not" {
  images=(--data synthetic-images-n64 --indices parts/private-rows.npy --quiet)
  "$SOTTO" embed "${images[@]}" --encoder scattering --grid 1 -o s.npy
  run "$SOTTO" embed "${images[@]}" --encoder e.safetensors --join s.npy -o both.npy
  [[ "$output" == "34 embeddings of width 145" ]] || { echo "$output"; false; } # 81 + 64
  run "$SOTTO" embed --data synthetic-images-n64 --indices parts/public-rows.npy --quiet --encoder e.safetensors --join s.npy -o other.npy
  [ "$status" -eq 65 ]
  head -c 128 s.npy > cut.npy
  run "$SOTTO" embed "${images[@]}" --encoder e.safetensors --join cut.npy -o other.npy
  [ "$status" -eq 65 ]
  [ ! -e other.npy ]
}
