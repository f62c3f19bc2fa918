#!/usr/bin/env bats
# Work of several processes: sampled sensitivity, and the scripts for schedulers (with stubs: no scheduler is needed).

setup() {
  dir=$(mktemp -d)
  cd "$dir" || return 1
  export XDG_DATA_HOME=$dir/data SOTTO_CACHE_DIR=$dir/cache
  unset SLURM_ARRAY_TASK_ID PBS_ARRAY_INDEX SGE_TASK_ID OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMI_RANK SLURM_PROCID SLURM_CPUS_PER_TASK NCPUS
}
teardown() { cd /; rm -rf "$dir"; }

@test "sensitivity by workers and parts has the bytes of one process" {
  "$SOTTO" data split synthetic-blobs-d4-k3-n60 --parts a=60 -o b --quiet
  for kind in linear hidden; do
    sample=("$SOTTO" sensitivity --features b/a-features.npy --labels b/a-labels.npy --epochs 2 --batch 10 --pairs 200)
    [ $kind = linear ] || sample+=(--hidden 8)
    "${sample[@]}" -o whole-$kind.json
    for i in 1 2 3; do
      "${sample[@]}" --cache $kind --worker > worker$i.txt &
      pids[i]=$!
    done
    kill -9 "${pids[2]}" || true # at any moment
    for i in 1 3; do wait "${pids[i]}"; done
    wait "${pids[2]}" || true
    "${sample[@]}" --cache $kind -o merged-$kind.json
    cmp whole-$kind.json merged-$kind.json
    [ -z "$(find $kind -name '*.claim')" ]
    for f in $kind/*.safetensors; do echo "node7 4242 boot/space 2026-01-01T00:00:00Z" > "${f%.safetensors}.claim"; done # killed behind its result
    "${sample[@]}" --cache $kind --worker
    [ -z "$(find $kind -name '*.claim')" ]
    [ "$(find $kind -name '*.safetensors' | wc -l)" -eq 4 ]
  done
  run "${sample[@]}" --cache parts --shard 1/3 --json -o parts.json
  [ "$output" = '{"schema": "sotto.pairs/1", "pairs": 200, "missing": 128}' ] # blocks 1 and 4, of 64 and 8 pairs, are there
  [ ! -e parts.json ]
  SLURM_ARRAY_TASK_ID=6 SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_COUNT=3 run "${sample[@]}" --cache parts --shard auto --json -o parts.json
  [ "$output" = '{"schema": "sotto.pairs/1", "pairs": 200, "missing": 64}' ] # block 2, too
  "${sample[@]}" --cache parts -o parts.json
  cmp whole-hidden.json parts.json
  block=$(find parts -name '*.safetensors' | head -n 1)
  printf '\1' | dd of="$block" bs=1 seek=$(($(stat -c %s "$block") - 3)) conv=notrunc status=none
  run "${sample[@]}" --cache parts -o parts.json
  [ "$status" -eq 65 ]
  [[ "$output" == *"$block: its SHA-256 differs from the one that it states; remove the file" ]]
  run "${sample[@]}" --worker
  [ "$status" -eq 64 ]
  run "${sample[@]}" --cache parts --worker --shard 1/2
  [ "$status" -eq 64 ]
  run "${sample[@]}" --cache parts --worker -o parts.json
  [ "$status" -eq 64 ]
}

@test "sensitivity --plan: blocks, hours and bytes; nothing is written" {
  "$SOTTO" data split synthetic-blobs-d4-k3-n60 --parts a=60 -o b --quiet
  sample=("$SOTTO" sensitivity --features b/a-features.npy --labels b/a-labels.npy --epochs 2 --batch 10 --pairs 200)
  # number KEY: of the object in $output
  number() { sed -n "s/.*\"$1\": \([0-9.e+-]*\).*/\1/p" <<< "$output"; }
  for cache in "" "--cache c"; do
    run "${sample[@]}" $cache --plan --json
    [ "$status" -eq 0 ]
    [[ "$output" == '{"schema": "sotto.pairs-plan/1", "pairs": 200, "tasks": 4, "missing": 4, "seconds_each": '* ]]
    [ ! -e c ]
  done
  awk "BEGIN { exit !($(number seconds_each) > 0) }"
  bytes=$(number bytes)
  "${sample[@]}" --cache c --shard 1/2 -o part.json > /dev/null # blocks 1 and 3
  before=$(find c | sort)
  run "${sample[@]}" --cache c --plan --json
  [[ "$output" == *'"tasks": 4, "missing": 2, '* ]]
  # one block at a time on each worker: with 8 workers one round
  LC_ALL=C awk "BEGIN { s = $(number seconds_each) / 3600; one = $(number 1); eight = $(number 8); exit !(one > 1.99 * s && one < 2.01 * s && eight > .99 * s && eight < 1.01 * s) }"
  [ "$(find c | sort)" = "$before" ]
  "${sample[@]}" --cache c -o s.json > /dev/null
  [ "$(cat c/*.safetensors | wc -c)" -eq "$bytes" ]
  run "${sample[@]}" --cache c --plan
  [[ "${lines[0]}" == "200 pairs in 4 blocks, of which 0 are missing; "*" s each; nothing was written" ]]
  [[ "${lines[1]}" == "missing blocks: 0 h with 1 worker, 0 h with 8, 0 h with 64 (predicted); all "*" MB on disk" ]]
  for wrong in --worker "--shard 1/2" "-o s.json" --local; do
    run "${sample[@]}" --cache c --plan $wrong
    [ "$status" -eq 64 ]
  done
}

@test "scripts for Slurm, PBS and mpirun: workers, then one process that merges" {
  examples=$(dirname "$BATS_TEST_FILENAME")/../../examples
  mkdir stubs
  printf '#!/bin/sh\necho "sotto $*" >> log\n' > stubs/sotto
  printf '#!/bin/sh\necho mpirun >> log\nshift 6\nOMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 "$@"\nOMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 "$@"\n' > stubs/mpirun
  chmod +x stubs/*
  export PATH=$PWD/stubs:$PATH
  printf '#!/bin/sh\nshift\n"$@"\nexit 130\n' > stubs/srun
  printf '#!/bin/sh\necho "scontrol $*" >> log\n' > stubs/scontrol
  chmod +x stubs/*
  for script in slurm-array slurm-pretrain pbs-array mpirun-workers; do
    bash -n "$examples/$script.sh"
    ! command -v shellcheck > /dev/null || shellcheck "$examples/$script.sh"
  done
  SLURM_ARRAY_TASK_ID=5 SLURM_CPUS_PER_TASK=3 "$examples/slurm-array.sh" c.yaml f
  "$examples/slurm-array.sh" c.yaml f
  CONFIG=c.yaml FOLDER=f PBS_ARRAY_INDEX=5 NCPUS=3 "$examples/pbs-array.sh"
  CONFIG=c.yaml FOLDER=f "$examples/pbs-array.sh"
  "$examples/mpirun-workers.sh" hosts c.yaml f
  run env SLURM_JOB_ID=7 SLURM_CPUS_PER_TASK=3 "$examples/slurm-pretrain.sh" --data d -o e.safetensors
  [ "$status" -eq 130 ]
  cat > expected <<'X'
sotto run c.yaml -o f --threads 3 --worker
sotto run c.yaml -o f --threads 2
sotto run c.yaml -o f --threads 3 --worker
sotto run c.yaml -o f --threads 2
mpirun
sotto run c.yaml -o f --threads 2
sotto run c.yaml -o f --threads 2
sotto pretrain --order exact --threads 3 --data d -o e.safetensors
scontrol requeue 7
X
  diff expected log
}
