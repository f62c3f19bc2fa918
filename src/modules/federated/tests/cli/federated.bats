#!/usr/bin/env bats
# sotto federated: the simulator and its attackers from the command line.

bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  "$SOTTO" data split synthetic-blobs-n300 --parts all=300 -o d --quiet
  records=(--features d/all-features.npy --labels d/all-labels.npy --threads 1 --quiet)
}

@test "six attackers, a report, and the files of each round" {
  run "$SOTTO" federated "${records[@]}" --records 40 --rounds 6 --observed 2 --rounds-folder r --keep-uploads -o report
  [ "$status" -eq 0 ]
  for name in passive-local passive-global active-local active-global isolating isolating-ascent; do
    [[ "$output" == *"$name "* ]]
  done
  [[ "$output" == *"measured, on this split and these seeds, without secure aggregation; nothing is proved"* ]]
  [ -f report/report.html ]
  [ "$(ls r | wc -l)" -eq 30 ]
  "$SOTTO" inspect r/round-0006-participant-3.safetensors
  run "$SOTTO" predict --head r/round-0006.safetensors --features d/all-features.npy -o p.npy --quiet
  [ "$status" -eq 0 ]
}

@test "the document says what was simulated, what it would cost, and that nothing is proved" {
  run --separate-stderr "$SOTTO" federated "${records[@]}" --records 40 --rounds 8 --noise-multiplier 2 --json
  [ "$status" -eq 0 ]
  [[ "$output" == *'"proved":"nothing"'* ]]
  [[ "$output" == *'"simulated_noise":{"noise_multiplier":2.0,"max_grad_norm":1.0,"target_epsilon":'* ]]
  [[ "$output" == *'so these files have no privacy statement'* ]]
  epsilon=$(sed 's/.*"target_epsilon":\([0-9.]*\).*/\1/' <<< "$output")
  run --separate-stderr "$SOTTO" account --mechanism gaussian --noise-multiplier 2 --sample-rate .8 --steps 16 --delta 1e-3 --adjacency add-remove --json
  [[ "$output" == *"${epsilon:0:6}"* ]]
}

@test "what cannot be is refused" {
  run "$SOTTO" federated "${records[@]}" --records 80
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: federated: 4 participants with 80 records each need more than the 300 records given; reduce the records of each" ]
  run "$SOTTO" federated "${records[@]}" --owners d/all-labels.npy --records 10
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: federated: --records draws owners, --owners states them; give one of them" ]
  run "$SOTTO" federated "${records[@]}" --keep-uploads
  [ "$status" -eq 65 ]
  run "$SOTTO" federated "${records[@]}" --local-epochs 0
  [ "$status" -eq 64 ]
}

@test "labels from 1 are refused, with the option that reads them" {
  python3 - <<'PY'
b = bytearray(open("d/all-labels.npy", "rb").read())
begin = 10 + int.from_bytes(b[8:10], "little")
for at in range(begin, len(b), 8):
    b[at] += 1
open("from-1.npy", "wb").write(b)
PY
  run "$SOTTO" federated --features d/all-features.npy --labels from-1.npy --rounds 1 --participants 2
  [ "$status" -eq 65 ]
  [[ "$output" == *"give --labels-from 1"* ]]
}

@test "one of several ranks is refused before anything is read" {
  for rank in 0 3; do
    run env OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=$rank "$SOTTO" federated --features none.npy --labels none.npy
    [ "$status" -eq 69 ]
  done
}
