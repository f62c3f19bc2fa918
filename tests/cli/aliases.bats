#!/usr/bin/env bats
# Other names of options. Permanent: --sigma, --clip-norm, --sampling-rate, --bias. Of earlier versions, silently, in 0.2
# and 0.3: --target-epsilon, --sampling_rate.

bats_require_minimum_version 1.5.0

setup() { cd "$BATS_TEST_TMPDIR" || return 1; export XDG_DATA_HOME="$PWD/data"; }

# same A B -- COMMAND...: with A and with B in place of @ the command prints the same
same() {
  local a=$1 b=$2
  shift 3
  run "${@/#@/$a}"
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  local first=$output
  run "${@/#@/$b}"
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [ "$output" = "$first" ]
}

@test "account: --sigma is the scale or the noise multiplier, --sampling-rate the sample rate, --target-epsilon epsilon" {
  same --scale --sigma -- "$SOTTO" account --mechanism gaussian @ 3 --l2 1 --delta 1e-5
  same --noise-multiplier --sigma -- "$SOTTO" account --mechanism gaussian @ 4 --sample-rate 0.1 --steps 10 --delta 1e-5
  same --sample-rate --sampling-rate -- "$SOTTO" account --mechanism gaussian --noise-multiplier 4 @ 0.1 --steps 10 --delta 1e-5
  same --sample-rate --sampling_rate -- "$SOTTO" account --mechanism gaussian --noise-multiplier 4 @ 0.1 --steps 10 --delta 1e-5
  same --epsilon --target-epsilon -- "$SOTTO" account --mechanism gaussian @ 1 --l2 1 --delta 1e-5
  run "$SOTTO" account --mechanism gaussian --sigma 3 --scale 3 --l2 1 --delta 1e-5
  [ "$status" -eq 64 ]
}

@test "protect: --sigma is the scale, --target-epsilon epsilon" {
  "$SOTTO" data split synthetic-blobs-d8-k4-n900 --parts member=4 -o b
  common=(protect --vector b/member-features.npy --l2 1 --delta 1e-5 --mechanism gaussian --insecure-noise-seed 1 )
  "$SOTTO" "${common[@]}" --sigma 3 --ledger l1.jsonl -o p.npy
  "$SOTTO" "${common[@]}" --scale 3 --ledger l2.jsonl -o q.npy
  cmp p.npy q.npy
  "$SOTTO" "${common[@]}" --target-epsilon 2 --ledger l3.jsonl -o p.npy
  "$SOTTO" "${common[@]}" --epsilon 2 --ledger l4.jsonl -o q.npy
  cmp p.npy q.npy
}

@test "head and train: --sigma is the noise multiplier, --clip-norm the clipping norm, --target-epsilon epsilon" {
  "$SOTTO" data split synthetic-blobs-d8-k4-n900 --parts member=100 -o b
  head=(head --features b/member-features.npy --labels b/member-labels.npy --classes 4 --trainer dp-sgd --epochs 1)
  "$SOTTO" "${head[@]}" --sigma 5 --clip-norm 0.5 --ledger l1.jsonl -o h.safetensors
  grep -qF 'noise_multiplier\":5' h.safetensors
  grep -qF 'max_grad_norm\":0.5' h.safetensors
  "$SOTTO" "${head[@]}" --target-epsilon 0.3 --ledger l2.jsonl -o g.safetensors
  train=(train --data synthetic-images-n64 --hidden 4,8 --batch 16 --epochs 1 --dtype f32 --backend dnnl --quiet --dp-sgd)
  "$SOTTO" "${train[@]}" --sigma 5 --clip-norm 0.5 --ledger l3.jsonl -o m.safetensors
  grep -q 'noise_multiplier=5' m.safetensors
  "$SOTTO" "${train[@]}" --target-epsilon 0.3 --ledger l4.jsonl -o n.safetensors
}

@test "head: --bias is --bias-constant; old names are not shown" {
  "$SOTTO" data split synthetic-blobs-d8-k4-n900 --parts member=100 -o b
  convex=(head --features b/member-features.npy --labels b/member-labels.npy --classes 4 --trainer convex --steps 5)
  "$SOTTO" "${convex[@]}" --bias 0.5 -o a.safetensors
  "$SOTTO" "${convex[@]}" --bias-constant 0.5 -o b.safetensors
  cmp a.safetensors b.safetensors
  for verb in account head train protect; do
    run -0 "$SOTTO" $verb --help all
    [[ "$output" != *"target-epsilon"* ]]
    [[ "$output" == *"--epsilon"* ]]
  done
}
