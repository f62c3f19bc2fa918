#!/usr/bin/env bats
# label: landing
# DP-SGD on all ranks of mpirun: weights, ledger, certificate, kills, disks that are full. Skipped where Open MPI or the plug-in is missing;
# tests/property/train/test_private_ranks.c and tests/unit/dp/test_dpsgd_ranks.c need neither. f32, 1 and 2 threads a rank.
# 100 ranks are killed at night; a failure prints the seed of the instants, and SOTTO_RANK_SEED repeats them.

load ../support/effort

setup() {
  command -v mpirun >/dev/null || skip "no mpirun (openmpi-bin)"
  mpirun --version | grep -q 'Open MPI' || skip "mpirun is not that of Open MPI"
  [ -e "$SOTTO_BUILD/libsotto_mpi.so" ] || skip "the plug-in for MPI was not built (libopenmpi-dev)"
  dir=$(mktemp -d)
  cd "$dir"
  export XDG_DATA_HOME=$dir/data XDG_CACHE_HOME=$dir/cache
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
  export OMPI_MCA_orte_tmpdir_base=$dir # a lost rank leaves its folder there
  unset OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_RANK PMI_SIZE PMI_RANK SLURM_STEP_NUM_TASKS SLURM_PROCID PMIX_RANK SOTTO_MPI_LIBRARY
  local backend=dnnl
  "$SOTTO" version | grep -q oneDNN || backend=ref
  # all records in each step are quick to account for
  local common=(train --data synthetic-images-n64 --hidden 4,8 --seed 3 --dtype f32 --backend $backend --dp-sgd --noise-multiplier 2)
  every=("${common[@]}" --batch 64)
  some=("${common[@]}" --batch 16)
}
teardown() { cd /; [ -z "${dir-}" ] || rm -rf "$dir"; }

# SIGTERM alone does not always end mpirun
ranks() { timeout -k 5 300 mpirun --oversubscribe "$@"; }
entries() { if [ -e "$1" ]; then grep -c '"event":"reserve"' "$1" || true; else echo 0; fi; }
# one_error TEXT: the only error of $output
one_error() {
  { [ "$(grep -c 'sotto: error' <<<"$output")" -eq 1 ] && [[ "$output" == *"sotto: error: "*"$1"* ]]; } || { echo "$output"; return 1; }
}

@test "1, 2 and 3 ranks, with 1 and 2 threads: the file of one process, one entry, a certificate that names the ranks" {
  seeded=("${some[@]}" --steps 4 --clipping quantile --insecure-noise-seed 5 --quiet)
  for threads in 1 2; do
    "$SOTTO" "${seeded[@]}" --threads $threads --ledger alone$threads.jsonl -o alone$threads.st
    for n in 1 2 3; do
      run ranks -n $n "$SOTTO" "${seeded[@]}" --threads $threads --ledger l.jsonl -o r.st --json
      [ "$status" -eq 0 ] || { echo "$n ranks: $output"; return 1; }
      cmp r.st alone$threads.st
      [ "$(entries l.jsonl)" -eq 1 ]
      [ ! -e r.st.checkpoint ]
      [ $n -eq 1 ] || [[ "$output" == *"\"ranks\": $n,"*'"sampling_by": "rank 0"'* ]] || { echo "$output"; return 1; }
      rm l.jsonl r.st*
    done
  done
  "$SOTTO" "${some[@]}" --steps 4 --clipping quantile --insecure-noise-seed 6 --quiet --threads 1 --ledger other.jsonl -o other.st
  run cmp -s other.st alone1.st # so that the comparison can fail
  [ "$status" -ne 0 ]
}

@test "noise of the system: verified with its ledger, and no two runs alike" {
  for i in 1 2; do
    run ranks -n 2 "$SOTTO" "${some[@]}" --steps 4 --quiet --ledger l$i.jsonl -o m$i.st
    [ "$status" -eq 0 ]
    [[ "$output" == *"-differentially private under replace-one adjacency"* ]] || { echo "$output"; return 1; }
    "$SOTTO" verify m$i.st.certificate.json --ledger l$i.jsonl
    "$BATS_TEST_DIRNAME/../../tools/check-schema" m$i.st.certificate.json l$i.jsonl
    python3 "$BATS_TEST_DIRNAME/../../verifier/sotto-verify.py" m$i.st.certificate.json --ledger l$i.jsonl
  done
  run cmp -s m1.st m2.st
  [ "$status" -ne 0 ]
  sed 's/"sampling_by": "rank 0"/"sampling_by": "rank 1"/' m1.st.certificate.json > forged.json
  run "$SOTTO" verify forged.json --ledger l1.jsonl
  [ "$status" -ne 0 ]
  run python3 "$BATS_TEST_DIRNAME/../../verifier/sotto-verify.py" forged.json --ledger l1.jsonl
  [ "$status" -ne 0 ]
}

# without the warning of a machine with fewer cores than threads
uncrowded() { grep -Ev '^sotto: warning: train: [0-9]+ threads of [0-9]+ ranks? on .* so they wait for each other; start them with '; }

# begin RANKS ARGUMENT...: a run in the background whose ranks tell their process numbers; its output to `said`
begin() {
  local n=$1
  shift
  rm -f pid.* said
  ranks -n "$n" bash -c 'echo $$ > "new.$OMPI_COMM_WORLD_RANK" && mv "new.$OMPI_COMM_WORLD_RANK" "pid.$OMPI_COMM_WORLD_RANK"; exec "$@"' sh "$@" > said 2>&1 &
  job=$!
  local r
  for ((r = 0; r < n; r++)); do
    until [ -e pid.$r ]; do sleep 0.05; done
  done
}
# ended CODE: the run that was begun
ended() {
  local code=0
  wait $job || code=$?
  [ $code -eq "$1" ] || { echo "exit $code"; cat said; return 1; }
}
step_of() { python3 -c 'import json, struct, sys
b = open(sys.argv[1], "rb").read()
n = struct.unpack("<Q", b[:8])[0]
at = json.loads(b[8:8 + n])["progress.step"]["data_offsets"][0] + 8 + n
print(struct.unpack("<q", b[at:at + 8])[0])' "$1"; }
charged() { python3 -c 'import json, sys
lines = map(json.loads, open(sys.argv[1]))
print(sum(line["steps"] for line in lines if line["event"] == "reserve"))' "$1"; }

@test "a signal to one rank: all leave with a checkpoint and the charge; another number of ranks goes on and is charged again" {
  long=("${every[@]}" --steps 100000 --ledger l.jsonl -o m.st)
  begin 2 "$SOTTO" "${long[@]}"
  until [ -s m.st.checkpoint ]; do sleep 0.05; done
  kill -USR1 "$(cat pid.1)"
  ended 130
  output=$(cat said)
  one_error "train: stopped after step "
  [[ "$output" == *"hint: epsilon "*" was charged: charge 0 of the ledger; the same command continues"* ]] || { echo "$output"; return 1; }
  [ "$(entries l.jsonl)" -eq 1 ]
  [ ! -e m.st ]
  begin 3 "$SOTTO" "${long[@]}"
  until grep -q 'charged again' said; do sleep 0.05; done
  kill -TERM "$(cat pid.2)"
  ended 130
  [ "$(entries l.jsonl)" -eq 2 ]
}

commitment_of() { [ ! -e "$1" ] || python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["commitment"])' "$1"; }

# kill_ranks KILLS OPTION...: one of 3 ranks is killed at some instant, again and again, and the last run goes to its end
kill_ranks() {
  local kills=$1 steps=400 before=0 reserved=0 after i
  shift
  RANDOM=${SOTTO_RANK_SEED:-11}
  echo "seed ${SOTTO_RANK_SEED:-11}"
  for ((i = 0; i < kills; i++)); do
    begin 3 "$SOTTO" "${every[@]}" --steps $steps "$@" --ledger l.jsonl -o m.st
    sleep 0.$((RANDOM % 10))$((RANDOM % 10))
    sleep $((RANDOM % 3))
    kill -9 "$(cat pid.$((RANDOM % 3)))" || true # it may be done
    wait $job || true
    after=$(entries l.jsonl)
    [ $((after - before)) -eq 0 ] || [ $((after - before)) -eq 1 ] || { cat said; return 1; }
    if grep -q 'charged again' said; then
      [ "$after" -gt "$before" ]
    fi
    if [ -e m.st.checkpoint ]; then # it is made behind the first entry
      [ "$after" -gt 0 ]
      [ "$(step_of m.st.checkpoint)" -le "$(charged l.jsonl)" ]
    fi
    reserved=$((reserved + after - before)) before=$after
    if [ -e m.st ]; then # it was done before the kill, and its coins are used up: the next one is another training
      commitment_of m.st.coins.json >> commitments
      rm -f m.st m.st.*
    fi
    rm -f m.st.checkpoint.resumes # kills within the first step are tests/cli/storm.bats
  done
  echo "$kills kills, $reserved of them behind the charge"
  run ranks -n 2 "$SOTTO" "${every[@]}" --steps $steps "$@" --ledger l.jsonl -o m.st --json --quiet
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [ "$(entries l.jsonl)" -eq $((before + 1)) ]
  "$SOTTO" verify m.st.certificate.json --ledger l.jsonl # the chain is whole; the certificate lists all entries of its run
  "$SOTTO" ledger show l.jsonl > /dev/null
}

@test "killed ranks: no entry is lost, and no step is in a checkpoint that was not charged" {
  kill_ranks "$(by_effort 3 10 100)"
}

@test "killed ranks with canaries: the same, and every entry holds the commitment to the coins of its training" {
  kill_ranks "$(by_effort 2 5 100)" --canaries 6 --canary-kind dirac
  commitment_of m.st.coins.json >> commitments
  named=$(sed 's/.*"purpose":"6 canaries (dirac, one of two), coins \([0-9a-f]*\)".*/\1/' <(grep '"event":"reserve"' l.jsonl) | uniq)
  [ "$named" = "$(cat commitments)" ]
  [ ! -e m.st.canaries.state ]
  python3 -c 'import numpy; s = numpy.load("m.st.canaries.npz")["white_box"]; assert s.shape == (6,) and numpy.isfinite(s).all() and (s != 0).all(), s'
}

@test "a disk that is full, or a ledger that cannot be written, on rank 0: one line, and nothing is charged" {
  touch file
  run ranks -n 3 "$SOTTO" "${every[@]}" --steps 4 --quiet --ledger file/l.jsonl -o m.st
  [ "$status" -eq 73 ]
  one_error "rank 0 ("
  [ -z "$(find . -name 'm.st' -o -name '*.jsonl')" ]
  run ranks -n 3 bash -c '[ $OMPI_COMM_WORLD_RANK -ne 0 ] || { ulimit -f 0; trap "" XFSZ; }; exec "$@"' sh \
    "$SOTTO" "${every[@]}" --steps 4 --quiet --ledger l.jsonl -o m.st
  [ "$status" -ne 0 ]
  one_error "rank 0 ("
  [ ! -s l.jsonl ]
  [ ! -s m.st ]
  if unshare -m true 2> /dev/null; then
    mkdir small
    run timeout -k 5 300 unshare -m bash -c 'mount -t tmpfs -o size=4k none small && head -c 4096 /dev/zero > small/fill; exec mpirun --oversubscribe -n 2 "$@"' sh \
      "$SOTTO" "${every[@]}" --steps 4 --quiet --ledger small/l.jsonl -o m.st
    [ "$status" -eq 74 ] || [ "$status" -eq 73 ] || { echo "$status $output"; return 1; }
    one_error "rank 0 ("
    [ ! -s m.st ]
  fi
}

@test "ranks with other private options are refused before anything is charged" {
  run ranks -n 1 "$SOTTO" "${every[@]}" --steps 4 --ledger l.jsonl -o m.st : -n 1 "$SOTTO" "${every[@]}" --steps 4 --reserve-steps 2 --ledger l.jsonl -o m.st
  [ "$status" -eq 65 ]
  one_error "rank 1 ("
  [[ "$output" == *"reserve_steps is 2, but 4 on rank 0; start all ranks with the same options"* ]] || { echo "$output"; return 1; }
  [ -z "$(find . -name 'm.st*' -o -name 'l.jsonl*')" ]
}

@test "certified inputs: 1, 2 and 3 ranks give the file of one process; a run that was stopped goes on with another number of ranks" {
  inputs=("$SOTTO" train --data synthetic-images-n24 --model resnet8 --batch 8 --leaf 2 --order exact --seed 3 --dtype f32 --backend dnnl --threads 1
    --certify-inputs --radius 3 --input-noise 2 --label-epsilon 1 --reserve-steps 1)
  "$SOTTO" version | grep -q oneDNN || inputs=("${inputs[@]/dnnl/ref}")
  seeded=("${inputs[@]}" --epochs 3 --insecure-noise-seed 5 --quiet)
  "${seeded[@]}" --ledger alone.jsonl -o alone.st > alone.txt
  for n in 1 2 3; do
    run ranks -n $n "${seeded[@]}" --ledger l.jsonl -o r.st
    [ "$status" -eq 0 ] || { echo "$n ranks: $output"; return 1; }
    cmp r.st alone.st
    [ "$(entries l.jsonl)" -eq 3 ]
    [ "$(grep -c '"event":"release"' l.jsonl)" -eq 1 ] # labels
    [ ! -e r.st.checkpoint ]
    rm l.jsonl r.st*
  done
  ranks -n 2 "${inputs[@]}" --epochs 3 --quiet --ledger l.jsonl -o m.st # noise of the system
  "$SOTTO" verify m.st.certificate.json --ledger l.jsonl
  "$BATS_TEST_DIRNAME/../../tools/check-schema" m.st.certificate.json l.jsonl
  run cmp -s m.st alone.st
  [ "$status" -ne 0 ]
  rm l.jsonl m.st*
  long=("${inputs[@]}" --epochs 2000 --ledger l.jsonl -o m.st)
  begin 2 "${long[@]}"
  until [ -s m.st.checkpoint ]; do sleep 0.05; done
  kill -USR1 "$(cat pid.1)"
  ended 130
  output=$(cat said)
  one_error "train: stopped after step "
  [[ "$output" == *"hint: epsilon "*"the same command continues"* ]] || { echo "$output"; return 1; }
  before=$(entries l.jsonl)
  begin 3 "${long[@]}"
  until grep -q 'charged again' said; do sleep 0.05; done
  until [ "$(entries l.jsonl)" -gt $((before + 1)) ]; do sleep 0.05; done
  kill -9 "$(cat pid.2)"
  wait $job || true
  [ "$(grep -c '"event":"release"' l.jsonl)" -eq 1 ] # labels are paid for once
  "$SOTTO" ledger show l.jsonl > /dev/null # the chain is whole
}

# entries hold times and numbers of their own; what canaries add is the purpose
purposes() { grep -o '"purpose":"[^"]*"' "$1"; }

@test "canaries: model, coins, scores and commitment of one process on 2 and 3 ranks; coins are used once" {
  for kind in mislabelled dirac; do
    unseeded=("${every[@]}" --steps 4 --canary-kind $kind --canaries 6 --threads 1 --quiet)
    canaries=("${unseeded[@]}" --insecure-noise-seed 5)
    "$SOTTO" "${canaries[@]}" --ledger alone.jsonl -o alone.st
    for n in 2 3; do
      run ranks -n $n "$SOTTO" "${canaries[@]}" --ledger l.jsonl -o m.st
      [ "$status" -eq 0 ] || { echo "$kind, $n ranks: $output"; return 1; }
      [ "$(uncrowded <<<"$output" | grep -c .)" -eq "$("$SOTTO" "${canaries[@]}" --ledger again.jsonl -o again.st 2>&1 | grep -c .)" ] || { echo "$output"; return 1; }
      for f in "" .coins.json .canaries.npz; do cmp m.st$f alone.st$f; done
      [ "$(entries l.jsonl)" -eq 1 ]
      [ "$(purposes l.jsonl)" = "$(purposes alone.jsonl)" ]
      ls m.st* again.st* > left
      [ "$(grep -c '^m' left)" -eq "$(grep -c '^again' left)" ] || { cat left; return 1; } # no other rank writes
      run ranks -n 2 "$SOTTO" "${canaries[@]}" --ledger l.jsonl -o m.st
      [ "$status" -eq 73 ]
      one_error "these coins were tossed for a training that has finished"
      [ "$(entries l.jsonl)" -eq 1 ]
      rm m.st* l.jsonl again.*
    done
    "$SOTTO" "${unseeded[@]}" --insecure-noise-seed 6 --ledger other.jsonl -o other.st # so that the comparison can fail
    run cmp -s other.st.canaries.npz alone.st.canaries.npz
    [ "$status" -ne 0 ]
    rm alone.* other.*
  done
}

@test "canaries with the system's coins: the audit of one process opens them" {
  run ranks -n 3 "$SOTTO" "${every[@]}" --steps 4 --canary-kind dirac --canaries 30 --threads 1 --quiet --ledger l.jsonl -o m.st
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [ "$(stat -c %a m.st.coins.json)" = 600 ]
  run "$SOTTO" audit --one-run 3 --delta 1e-3 --coin-file m.st.coins.json --coins replacement --scores m.st.canaries.npz:white_box --certificate m.st --ledger l.jsonl -o report
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
}

@test "ranks with other canaries are refused before coins are tossed" {
  for other in "" "--canaries 5" "--canaries 4 --canary-kind dirac"; do
    run ranks -n 1 "$SOTTO" "${every[@]}" --steps 4 --canaries 4 --ledger l.jsonl -o m.st : -n 1 "$SOTTO" "${every[@]}" --steps 4 $other --ledger l.jsonl -o m.st
    [ "$status" -eq 65 ] || { echo "$status $output"; return 1; }
    one_error "rank 1 ("
    [[ "$output" == *"): canaries is "*", but 4 mislabelled, one of two on rank 0; start all ranks with the same options"* ]] || { echo "$output"; return 1; }
    [ -z "$(find . -name 'm.st*' -o -name 'l.jsonl*')" ]
  done
}
