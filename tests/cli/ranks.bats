#!/usr/bin/env bats
# Ranks of a launcher as workers of one run: they share a folder, and rank 0 merges. No MPI is needed, as nothing goes between them: the
# launcher's variables are set here; the last test has mpirun, where it is installed.

setup() {
  dir=$(mktemp -d)
  cd "$dir" || return 1
  export XDG_DATA_HOME=$dir/data XDG_CACHE_HOME=$dir/cache
  export SOURCE_DATE_EPOCH=1767225600 # else a report says when it was made
  unset OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_RANK PMI_SIZE PMI_RANK SLURM_STEP_NUM_TASKS SLURM_PROCID PMIX_RANK SLURM_ARRAY_TASK_ID
  export SOTTO_MPI_LIBRARY=$dir/none.so # as if there were no plug-in for MPI
}
teardown() { cd /; rm -rf "$dir"; }

# together N KILLED COMMAND...: all ranks at once, of which KILLED ("none": none) is killed at any moment; rank 0's output to said0
together() {
  local n=$1 killed=$2 rank pids=()
  shift 2
  for ((rank = 0; rank < n; rank++)); do
    OMPI_COMM_WORLD_SIZE=$n OMPI_COMM_WORLD_RANK=$rank "$@" > said$rank 2> err$rank &
    pids[rank]=$!
  done
  if [ "$killed" != none ]; then
    sleep "0.$((RANDOM % 4))"
    kill -9 "${pids[$killed]}" 2> /dev/null || true # or it has ended
  fi
  for ((rank = 0; rank < n; rank++)); do
    if [ "$rank" = "$killed" ]; then
      wait "${pids[rank]}" || true
      continue
    fi
    wait "${pids[rank]}" || { echo "rank $rank: exit $?"; cat err$rank; return 1; }
    [ $rank -eq 0 ] || [ ! -s said$rank ] || { echo "rank $rank said:"; cat said$rank; return 1; }
    [ $rank -eq 0 ] || [ ! -s err$rank ] || { echo "rank $rank said:"; cat err$rank; return 1; }
  done
}

blocks() {
  "$SOTTO" data split synthetic-blobs-d4-k3-n60 --parts a=60 -o b --quiet
  pairs=("$SOTTO" sensitivity --features b/a-features.npy --labels b/a-labels.npy --epochs 2 --batch 10 --hidden 8 --pairs 200)
}
shadows() {
  "$SOTTO" data split synthetic-blobs-d8-k4-n240 --parts member=40,nonmember=40,attacker=160 -o p --quiet
  "$SOTTO" head --features p/member-features.npy --labels p/member-labels.npy --hidden 8 --epochs 3 -o t.safetensors --quiet
  lira=("$SOTTO" attack lira --target t.safetensors --member-features p/member-features.npy --member-labels p/member-labels.npy
    --nonmember-features p/nonmember-features.npy --nonmember-labels p/nonmember-labels.npy
    --attacker-features p/attacker-features.npy --attacker-labels p/attacker-labels.npy --shadows 12 --threads 1 --cache c -o out)
}
experiment() {
  cat > sweep.yaml <<'Y'
name: sweep
data: {set: synthetic-images-n600, public: 64, private: 60, heldout: 60, shadow: 40}
pretrain: {epochs: 1, batch: 32, dtype: f32, backend: dnnl}
encoder: {evaluate: false}
cases:
  - name: one
    head: {epochs: 1}
    records: 60
    sensitivity: {pairs: 70}
    shadow: {heads: 8}
    sweep: {mechanisms: [logistic, laplace], epsilons: [1]}
  - name: two
    records: 40
    head: {epochs: 1, hidden: [8]}
    shadow: {heads: 8}
    protect: [{mechanism: logistic, epsilon: 2, delta: 1.0e-5}]
    sensitivity: {pairs: 2}
attack: {names: [loss]}
evaluate: {draws: 2}
Y
  "$SOTTO" version | grep -q oneDNN || sed -i 's/backend: dnnl/backend: ref/' sweep.yaml
  run_all=("$SOTTO" run sweep.yaml --threads 1 --insecure-noise-seed 3 --json)
}

@test "sensitivity: the file of one process, also when a rank is killed" {
  blocks
  "${pairs[@]}" -o whole.json
  for killed in none 2 1; do
    rm -rf c shared.json
    together 3 $killed "${pairs[@]}" --cache c -o shared.json
    cmp whole.json shared.json
    grep -q '^shared.json: empirical sensitivity over 200 ' said0
  done
}

@test "an attack: the report of one process, also when a rank is killed" {
  shadows
  "${lira[@]}" > alone.txt
  mv out serial
  for killed in none 1; do
    rm -rf c out
    together 3 $killed "${lira[@]}"
    for f in report.json report.html result.json scores.npy membership.npy; do
      cmp "serial/$f" "out/$f"
    done
    cmp alone.txt said0
    [ -z "$(find c -name '*.claim')" ]
  done
  # a process that was killed between its model and the end of its claim: a worker, or the merging process, removes the claim
  for last in "--worker" "-o again"; do
    for f in c/*.safetensors; do echo "node7 4242 boot/space 2026-01-01T00:00:00Z" > "${f%.safetensors}.claim"; done
    "${lira[@]:0:${#lira[@]}-2}" $last > /dev/null
    [ -z "$(find c -name '*.claim')" ]
  done
}

@test "an experiment with sweeps and a release: the report of one process, also when a rank is killed; one charge" {
  experiment
  mkdir serial
  cd serial
  cp ../sweep.yaml .
  "${run_all[@]}" > ../alone.txt
  cd ..
  for killed in none 2; do
    rm -rf shared
    mkdir shared
    cd shared
    cp ../sweep.yaml .
    together 3 $killed "${run_all[@]}"
    cmp said0 ../alone.txt
    cd ..
    for f in report.json report.html models shadow attacks splits embeddings; do
      diff -r -x '*.tmp-*' "serial/runs/sweep/$f" "shared/runs/sweep/$f" # of a file that was being written, at most this is left
    done
    [ -z "$(find shared/runs -name '*.claim')" ]
    [ "$(find shared/runs -name '*ledger*.jsonl' -exec cat {} + | wc -l)" -eq "$(find serial/runs -name '*ledger*.jsonl' -exec cat {} + | wc -l)" ]
  done
  rm -rf shared
  mkdir shared
  cd shared
  cp ../sweep.yaml .
  "${run_all[@]}" --worker > /dev/null
  for f in runs/sweep/tasks/*.json runs/sweep/tasks/{shadow,pairs}/*.safetensors; do echo "node7 4242 boot/space 2026-01-01T00:00:00Z" > "${f%.*}.claim"; done
  [ "$(find runs -name '*.claim' | wc -l)" -gt 16 ]
  "${run_all[@]}" > ../again.txt
  cmp ../again.txt ../alone.txt
  [ -z "$(find runs -name '*.claim')" ]
}

@test "a worker's own error is told with its rank, and rank 0 does its work" {
  blocks
  "${pairs[@]}" -o whole.json
  # rank 1 cannot read the records, as on a machine without the shared folder
  (OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 "${pairs[@]/b\/a-labels.npy/none.npy}" --cache c > said1 2> err1 || echo $? > code1) &
  OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 "${pairs[@]}" --cache c -o shared.json
  wait
  [ "$(< code1)" -eq 66 ]
  [[ "$(< err1)" == "sotto: error: rank 1 ($(hostname)): none.npy"* ]]
  cmp whole.json shared.json
}

@test "mpirun: 1 and 3 ranks give the bytes of one process, and an error of any rank is the job's" {
  command -v mpirun > /dev/null || skip "no mpirun (openmpi-bin)"
  mpirun --version | grep -q 'Open MPI' || skip "mpirun is not that of Open MPI"
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_orte_tmpdir_base=$dir
  ranks() { timeout -k 5 300 mpirun --oversubscribe "$@"; }
  blocks
  shadows
  experiment
  "${pairs[@]}" -o whole.json
  "${lira[@]}" > /dev/null
  mv out serial
  "${run_all[@]}" > alone.txt
  mv runs serial-runs
  for n in 1 3; do
    rm -rf c runs out
    ranks -n $n "${pairs[@]}" --cache c -o shared.json
    cmp whole.json shared.json
    ranks -n $n "${lira[@]}" > /dev/null
    cmp serial/report.json out/report.json
    ranks -n $n "${run_all[@]}" > said
    cmp alone.txt said
    cmp serial-runs/sweep/report.json runs/sweep/report.json
  done
  run ranks -n 1 "${pairs[@]}" --cache d -o x.json : -n 1 "${pairs[@]/b\/a-labels.npy/none.npy}" --cache d -o x.json
  [ "$status" -eq 66 ]
  [[ "$output" == *"sotto: error: rank 1 ("*"): none.npy"* ]]
  run ranks -n 3 "${pairs[@]}" -o x.json # all have it: rank 0 says it
  [ "$status" -eq 64 ]
  [ "$(grep -c 'sotto: error' <<< "$output")" -eq 1 ]
}
