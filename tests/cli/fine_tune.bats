#!/usr/bin/env bats
# train --from from the outside: what is trained, what it says, what it refuses before it charges; features side by side.

bats_require_minimum_version 1.5.0

setup_file() {
  cd "$BATS_FILE_TMPDIR" || exit 1
  export XDG_DATA_HOME=$PWD/home
  "$SOTTO" data split synthetic-images-n64 --parts public=30,private=34 --seed 1 -o parts --quiet > /dev/null
  "$SOTTO" pretrain --data synthetic-images-n64 --indices parts/public-rows.npy --encoder resnet8 --epochs 1 --batch 10 --dtype f32 --backend dnnl --threads 1 \
    --quiet -o e.safetensors > /dev/null
}
setup() {
  dir=$BATS_TEST_TMPDIR
  cd "$dir" || exit 1
  export XDG_DATA_HOME="$dir/home"
  cp -r "$BATS_FILE_TMPDIR"/{parts,e.safetensors*} .
  common=(--data synthetic-images-n64 --batch 17 --epochs 2 --optimizer sgd --lr 0.1 --dtype f32 --backend dnnl --threads 2 --quiet)
  private=(--dp-sgd --epsilon 0.3 --delta 1e-3 --ledger l.jsonl) # much noise, whose account takes little time
}

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

@test "moments of public embeddings become a part of the network, and of the certificate" {
  "$SOTTO" embed --data synthetic-images-n64 --indices parts/public-rows.npy --encoder e.safetensors -o p.npy --quiet > /dev/null
  "$SOTTO" embed --data synthetic-images-n64 --indices parts/private-rows.npy --encoder e.safetensors --standardise p.npy -o x.npy --labels-out y.npy --quiet > /dev/null
  run "$SOTTO" train "${common[@]}" --indices parts/private-rows.npy --from e.safetensors --freeze all --standardise p.npy "${private[@]}" -o m.safetensors
  [ "$status" -eq 0 ]
  [[ "$output" == *"; standardised by rows: public, by the caller; no record of its rows is among the private ones"* ]] || { echo "$output"; false; }
  "$SOTTO" head --features x.npy --labels y.npy --classes 10 --trainer dp-sgd --epsilon 0.3 --delta 1e-3 --batch 17 --epochs 2 --quiet -o h.safetensors > /dev/null
  same() { tr -d '\n' < "$1.certificate.json" | grep -o '"noise_multiplier": [0-9.]\{8\}\|"sample_rate": [0-9.]*\|"dimension": [0-9]*'; }
  diff <(same m.safetensors) <(same h.safetensors)
  run "$SOTTO" verify m.safetensors --ledger l.jsonl
  [ "$status" -eq 0 ]
  [[ "$output" == *"whether the encoder and the rows that standardise its embeddings are public"* ]] || { echo "$output"; false; }
  "$SOTTO" predict --model m.safetensors --data synthetic-images-n64 -o answers.npy --quiet
  "$SOTTO" embed --data synthetic-images-n64 --encoder e.safetensors -o all.npy --quiet > /dev/null
  run "$SOTTO" train "${common[@]}" --indices parts/private-rows.npy --from e.safetensors --freeze all --standardise all.npy "${private[@]}" -o n.safetensors
  [ "$status" -eq 65 ]
  [[ "$output" == *"all.npy contains row "*" of 'synthetic-images-n64', which is to be private; expected embeddings of other records"* ]] || { echo "$output"; false; }
  [ ! -e n.safetensors ]
}

@test "a certificate that names other tensors, another encoder or fewer weights is refused" {
  "$SOTTO" train "${common[@]}" --indices parts/private-rows.npy --from e.safetensors --freeze all "${private[@]}" -o m.safetensors
  cp m.safetensors.certificate.json kept.json
  for change in 's/classifier.weight, classifier.bias/classifier.bias/' 's/"encoder_sha256": "./"encoder_sha256": "x/' 's/"trained": [0-9]*/"trained": 1/' 's/"fine_tuning"/"remark"/'; do
    sed "$change" kept.json > m.safetensors.certificate.json
    run -1 cmp -s kept.json m.safetensors.certificate.json
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
  [ ! -e l.jsonl ]
  [ ! -e m.safetensors ]
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
  "$SOTTO" embed "${images[@]}" --encoder e.safetensors --join s.npy --weight 2 -o twice.npy
  run cmp both.npy twice.npy
  [ "$status" -eq 1 ]
  run "$SOTTO" embed "${images[@]}" --encoder e.safetensors --weight 2 -o other.npy
  [ "$status" -eq 64 ]
  run "$SOTTO" embed "${images[@]}" --encoder e.safetensors --join s.npy --weight 0 -o other.npy
  [ "$status" -eq 64 ]
  head -c 128 s.npy > cut.npy
  run "$SOTTO" embed "${images[@]}" --encoder e.safetensors --join cut.npy -o other.npy
  [ "$status" -eq 65 ]
  [ ! -e other.npy ]
}

@test "shadows of a fine-tuned target start from its encoder" {
  "$SOTTO" data split synthetic-images-n200 --parts member=30,nonmember=30,attacker=90 --seed 1 -o a --quiet > /dev/null
  fine=(--data a/member-features.npy:a/member-labels.npy --image 1,28,28 --batch 10 --epochs 2 --dtype f32 --backend dnnl --threads 2 --quiet)
  "$SOTTO" embed --data synthetic-images-n64 --encoder e.safetensors -o p.npy --quiet > /dev/null
  "$SOTTO" train "${fine[@]}" --from e.safetensors --freeze 2 --standardise p.npy -o t.safetensors
  attack=(attack shokri --target t.safetensors --member-features a/member-features.npy --member-labels a/member-labels.npy
    --nonmember-features a/nonmember-features.npy --nonmember-labels a/nonmember-labels.npy
    --attacker-features a/attacker-features.npy --attacker-labels a/attacker-labels.npy --shadows 2 --shadow-records 30 --cache cache --quiet -o r)
  run "$SOTTO" "${attack[@]}"
  [ "$status" -eq 64 ]
  [[ "$output" == *"its shadows must start too; give its file by --from"* ]] || { echo "$output"; false; }
  run "$SOTTO" "${attack[@]}" --from e.safetensors
  [ "$status" -eq 64 ]
  [[ "$output" == *"standardises embeddings by public ones; give them by --standardise"* ]] || { echo "$output"; false; }
  "$SOTTO" pretrain --data synthetic-images-n64 --encoder resnet8 --epochs 1 --batch 10 --seed 2 --dtype f32 --backend dnnl --threads 1 --quiet -o other.safetensors > /dev/null
  run "$SOTTO" "${attack[@]}" --from other.safetensors --standardise p.npy
  [ "$status" -eq 64 ]
  [[ "$output" == *"but the target was fine-tuned from"* ]] || { echo "$output"; false; }
  "$SOTTO" "${attack[@]}" --from e.safetensors --standardise p.npy
  [ "$(find cache -name '*.safetensors' | wc -l)" -eq 2 ]
  # the cache tells encoders apart
  ls cache > first; [ -s first ]
  rm -r r
  "$SOTTO" "${attack[@]}" --from other.safetensors --standardise p.npy --mismatch
  [ "$(ls cache | wc -l)" -eq $((2 * $(wc -l < first))) ]
  # a private target has private shadows, which start there too
  rm -r r e.safetensors.provenance.json
  "$SOTTO" data import a/member-features.npy:a/member-labels.npy --name members --quiet > /dev/null
  "$SOTTO" train --data members "${fine[@]:2}" --from e.safetensors --freeze 2 --classes 10 --dp-sgd --noise-multiplier 30 --delta 1e-3 --optimizer sgd --encoder-by me -o dp.safetensors
  "$SOTTO" "${attack[@]/t.safetensors/dp.safetensors}" --from e.safetensors
  [ -s r/result.json ]
}
