#!/usr/bin/env bats
# sotto account --residual-perturbation: what is proved stands apart from what is published; bad values.

input=(account --residual-perturbation=additive --radius=30 --input-noise=0.25 --uses=100 --delta=1e-5)
answers=(account --residual-perturbation=multiplicative --branch-bound=1 --weight-bound=1 --floor=0.1 --gamma=50 --output-noise=5 --delta=1e-5)

@test "noise on inputs is proved, the theorem is not" {
  run "$SOTTO" "${input[@]}" --gamma=0.5 --mapping-bound=30
  [ "$status" = 0 ]
  [[ "${lines[0]}" == "proved from "* && "${lines[1]}" == *"at most 2890234.7"* ]]
  [[ "$output" == *"LABELS ARE PUBLIC"* && "$output" == *"as published, NOT proved"* ]]
  run "$SOTTO" "${input[@]}"
  [[ "$output" != *Theorem* ]]
}

@test "a target gives the noise, and the noise the target" {
  noise=$("$SOTTO" account --residual-perturbation additive --radius 1 --epsilon 8 --uses 100 --delta 1e-5 --json |
    sed 's/.*"input_noise": \([0-9.]*\).*/\1/')
  run "$SOTTO" account --residual-perturbation additive --radius 1 --input-noise "$noise" --uses 100 --delta 1e-5 --json
  [[ "$output" == *'"epsilon_upper": 7.9999'* ]]
}

@test "label answers: without a floor there is no epsilon" {
  run "$SOTTO" "${answers[@]}" --json
  [ "$status" = 0 ]
  [[ "$output" != *'"epsilon_upper": null'* && "$output" == *"not the training records"* ]]
  run "$SOTTO" "${answers[@]/--floor=0.1/--floor=0}" --json
  [ "$status" = 0 ]
  [[ "$output" == *'"epsilon_upper": null'* ]]
}

@test "invalid values are refused in one line" {
  for bad in radius=0 radius=-1 radius=nan input-noise=0 uses=0 copies=0 label-epsilon=-1 delta=0 delta=1; do
    run "$SOTTO" "${input[@]/--${bad%%=*}=*/--$bad}" $([[ "${input[*]}" == *"--${bad%%=*}="* ]] || echo "--$bad")
    echo "$bad: $output"
    [ "$status" = 64 ] || [ "$status" = 65 ]
    [ "${#lines[@]}" = 1 ]
  done
  for bad in branch-bound=0 weight-bound=-2 floor=-1 gamma=0 output-noise=nan mappings=0 queries=0 delta=2; do
    run "$SOTTO" "${answers[@]/--${bad%%=*}=*/--$bad}" $([[ "${answers[*]}" == *"--${bad%%=*}="* ]] || echo "--$bad")
    echo "$bad: $output"
    [ "$status" = 64 ] || [ "$status" = 65 ]
    [ "${#lines[@]}" = 1 ]
  done
  run "$SOTTO" account --residual-perturbation additive --radius 1 --uses 1 --delta 1e-5
  [ "$status" = 64 ]
  run "$SOTTO" "${input[@]}" --mechanism gaussian
  [ "$status" = 64 ]
  run "$SOTTO" account --residual-perturbation sideways
  [ "$status" = 64 ]
}

@test "sotto demo sde" {
  cd "$BATS_TEST_TMPDIR"
  run "$SOTTO" demo sde --data synthetic-images-n600 -o sde --quiet
  [ "$status" = 0 ]
  [[ "$output" == *"no privacy guarantee"* && "$output" == *"additive-1 "* ]]
  [ -s sde/ode-recovered.png ]
  [ -s sde/sde.json ]
  run "$SOTTO" demo sde --data synthetic-images-n600 --row 99999999 -o sde2
  [ "$status" = 65 ]
  [ ! -e sde2 ]
  run "$SOTTO" demo waltz
  [ "$status" = 64 ]
}

@test "sotto train --residual-perturbation: answers are noisy, unless seeded" {
  cd "$BATS_TEST_TMPDIR"
  train=("$SOTTO" train --data synthetic-images-n600 --split test --model resnet8 --batch 50 --epochs 1 --dtype f32 --backend dnnl --threads 1 --quiet -o m.safetensors)
  for bad in "--residual-perturbation sideways" "--gamma 1" "--residual-perturbation additive --gamma -1" "--ensemble 0" "--ensemble 99" \
    "--separate-inputs" "--residual-perturbation multiplicative --gamma 1 --no-skip" "--model cnn --input-noise 1"; do
    run "${train[@]}" $bad
    echo "$bad: $output"
    [ "$status" = 64 ] || [ "$status" = 65 ]
    [ ! -e m.safetensors ]
  done
}

@test "train: additive noise comes with half as much on the input, unless told otherwise" {
  cd "$BATS_TEST_TMPDIR"
  train=("$SOTTO" train --data synthetic-images-n64 --model resnet8 --batch 30 --epochs 1 --dtype f32 --backend dnnl --threads 1 --quiet -o m.safetensors)
  "${train[@]}" --residual-perturbation additive --gamma 0.5
  [[ "$("$SOTTO" inspect m.safetensors)" == *input_noise*:0.25,* ]]
  "${train[@]}" --residual-perturbation additive --gamma 0.5 --input-noise 0
  [[ "$("$SOTTO" inspect m.safetensors)" == *input_noise*:0.0,* ]]
  "${train[@]}" --residual-perturbation multiplicative --gamma 0.5
  [[ "$("$SOTTO" inspect m.safetensors)" == *input_noise*:0.0,* ]]
}

@test "train --certify-inputs: certificate and ledger agree; what breaks the proof is refused" {
  cd "$BATS_TEST_TMPDIR"
  export XDG_DATA_HOME="$BATS_TEST_TMPDIR/home"
  train=("$SOTTO" train --data synthetic-images-n64 --model resnet8 --batch 16 --epochs 2 --dtype f32 --backend dnnl --threads 1 --quiet -o m.safetensors)
  run "${train[@]}" --certify-inputs --radius 5 --epsilon 8 --residual-perturbation additive --gamma 0.5 --ledger l.jsonl
  echo "$output"
  [ "$status" = 0 ]
  [[ "$output" == *"(8, 0.001)-differentially private under replace-input adjacency"* ]]
  "$SOTTO" account --verify m.safetensors.certificate.json --ledger l.jsonl
  [[ "$("$SOTTO" account --ledger l.jsonl --delta 1e-5)" == *'"inputs_only_releases": 1'* ]]
  [[ "$("$SOTTO" inspect m.safetensors)" == *"trainer=noisy-inputs"* ]]
  "$SOTTO" predict --model m.safetensors --data synthetic-images-n64 -o p.npy
  rm m.safetensors* l.jsonl
  run "${train[@]}" --certify-inputs --radius 5 --epsilon 8 --label-epsilon 2 --ledger l.jsonl
  echo "$output"
  [[ "$output" == *"differentially private under replace-one adjacency"* ]]
  "$SOTTO" account --verify m.safetensors.certificate.json --ledger l.jsonl
  [[ "$("$SOTTO" account --ledger l.jsonl --delta 1e-5)" == *'"entries": 2'* ]]
  rm m.safetensors*
  for bad in "--certify-inputs --input-noise 2" "--certify-inputs --radius 5" \
    "--certify-inputs --radius 5 --input-noise 2 --noise-multiplier 1" "--certify-inputs --dp-sgd --radius 5 --input-noise 2" \
    "--label-epsilon 1" "--dp-sgd --epsilon 3 --norm group --label-epsilon 1" "--certify-inputs --radius 5 --epsilon 2 --label-epsilon 2" \
    "--certify-inputs --radius 5 --input-noise 2 --label-epsilon -1" \
    "--certify-inputs --radius 5 --input-noise 2 --ensemble 2 --separate-inputs" "--certify-inputs --radius 5 --input-noise 2 --ensemble 2 --members independent"; do
    run "${train[@]}" $bad --ledger other.jsonl
    echo "$bad: $output"
    [ "$status" = 64 ] || [ "$status" = 65 ]
    [ "${#lines[@]}" = 1 ]
    [ ! -e m.safetensors ]
    [ ! -e other.jsonl ]
  done
}

@test "train: independent ensemble members, averaged probabilities, noise in standard deviations" {
  cd "$BATS_TEST_TMPDIR"
  train=("$SOTTO" train --data synthetic-images-n64 --model resnet8 --batch 30 --epochs 1 --dtype f32 --backend dnnl --threads 1 --quiet)
  "${train[@]}" --ensemble 2 --members independent --average softmax --residual-perturbation additive --gamma 0.5 --relative -o m.safetensors
  [ "$(ls)" = "$(printf "m.safetensors\nm.safetensors.provenance.json")" ]
  [[ "$("$SOTTO" inspect m.safetensors)" == *average_softmax*independent*relative* ]]
  "$SOTTO" predict --model m.safetensors --data synthetic-images-n64 -o p.npy
  for bad in "--members independent" "--ensemble 2 --members sometimes" "--average softmax" "--ensemble 2 --average median" \
    "--relative" "--residual-perturbation multiplicative --gamma 1 --relative" "--batch 1"; do
    run "${train[@]}" $bad -o bad.safetensors
    echo "$bad: $output"
    [ "$status" = 64 ] || [ "$status" = 65 ]
    [ "${#lines[@]}" = 1 ]
    [ ! -e bad.safetensors ]
  done
}

@test "account --residual-perturbation complexity: Theorem 3, exactly, and an estimate on points" {
  run "$SOTTO" account --residual-perturbation complexity --gamma 0.8
  [ "$status" -eq 0 ]
  [[ "$output" == *"gamma 0.8 leaves 0.9313584021 of the Rademacher complexity"*"nothing is said about privacy"* ]]
  run "$SOTTO" account --residual-perturbation complexity --gamma 2 --exponent 1 --json
  [[ "$output" == *'"theorem": 3, "factor": 1}'* ]]
  printf '1,2\n-1,0.5\n0.25,3\n' > "$BATS_TEST_TMPDIR/points.csv"
  run "$SOTTO" account --residual-perturbation complexity --gamma 1 --points "$BATS_TEST_TMPDIR/points.csv" --draws 20
  [ "$status" -eq 0 ]
  [[ "$output" == *"by search, at least: "* ]]
  run "$SOTTO" account --residual-perturbation complexity
  [ "$status" -eq 64 ]
  run "$SOTTO" account --residual-perturbation complexity --gamma 1 --exponent 2
  [ "$status" -eq 64 ]
  run "$SOTTO" account --mechanism laplace --scale 1 --l1 1 --time 3
  [ "$status" -eq 64 ]
  [[ "$output" == *"--time needs --residual-perturbation"* ]]
}
