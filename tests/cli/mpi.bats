#!/usr/bin/env bats
# label: landing
# One training on all ranks of mpirun. Skipped where Open MPI or the plug-in is missing; tests/property/ssl/test_pretrain_ranks.c and
# tests/property/train/test_train_ranks.c need neither.

bats_require_minimum_version 1.5.0

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
  common=(--order exact --batch 16 --backend $backend --dtype f32)
  images=(--data synthetic-images-n40 --leaf 2 "${common[@]}")
}
teardown() { cd /; [ -z "${dir-}" ] || rm -rf "$dir"; }

# a build without that module has no such part of pretrain
with_part() { "$SOTTO" pretrain --help all | grep -q -e '--talos' || skip "this build has no pretrain --talos"; }
# SIGTERM alone does not always end mpirun
ranks() { timeout -k 5 300 mpirun --oversubscribe "$@"; }
weights() { sha256sum < "$1"; }
# without the warning of a machine with fewer cores than threads
uncrowded() { grep -Ev '^sotto: warning: (pretrain|train): [0-9]+ threads of [0-9]+ ranks? on .* so they wait for each other; start them with '; }

@test "1, 2, 3 and 4 ranks, with 1 and 2 threads, give the file of one process; rank 0 alone prints" {
  "$SOTTO" pretrain "${images[@]}" --epochs 2 -o alone.st --quiet
  for n in 1 2 3 4; do
    for threads in 1 2; do
      run ranks -n $n "$SOTTO" pretrain "${images[@]}" --epochs 2 --threads $threads -o ranks.st --json --quiet
      [ "$status" -eq 0 ] || { echo "$n ranks: $output"; return 1; }
      output=$(uncrowded <<<"$output")
      [ "$(wc -l <<<"$output")" -eq 1 ] && [[ "$output" == '{"schema": "sotto.pretrain/1"'* ]] || { echo "$output"; return 1; }
      [ "$(weights ranks.st)" = "$(weights alone.st)" ] || { echo "$n ranks, $threads threads: other weights"; return 1; }
      [ ! -e ranks.st.checkpoint ]
      [ -e ranks.st.provenance.json ]
      rm ranks.st*
    done
  done
  # so that the comparison can fail: other leaves are the same sums in another order
  ranks -n 2 "$SOTTO" pretrain --data synthetic-images-n40 --leaf 4 "${common[@]}" --epochs 2 -o other.st --quiet
  other=$(weights other.st)
  [ "$other" != "$(weights alone.st)" ]
}

@test "an installed program finds its plug-in" {
  cmake --install "$SOTTO_BUILD" --prefix "$dir/usr" > /dev/null
  "$SOTTO" pretrain "${images[@]}" --epochs 1 -o alone.st --quiet
  ranks -n 2 "$dir/usr/bin/sotto" pretrain "${images[@]}" --epochs 1 -o ranks.st --quiet
  [ "$(weights ranks.st)" = "$(weights alone.st)" ]
  plugin=$(find "$dir/usr" -name libsotto_mpi.so)
  [[ $plugin == */sotto/libsotto_mpi.so ]]
  mv "$plugin" "$plugin.away"
  run ranks -n 2 "$dir/usr/bin/sotto" pretrain "${images[@]}" --epochs 1 -o none.st --quiet
  [ "$status" -eq 69 ]
  [[ "$output" == *"libsotto_mpi.so cannot be loaded"*"install the package sotto-mpi"* ]]
}

@test "train: the file of one process, snapshots, canaries and all" {
  few=(train --model cnn "${images[@]}" --epochs 2 --quiet)
  "$SOTTO" "${few[@]}" --snapshot-every 1 -o alone.st
  run ranks -n 3 "$SOTTO" "${few[@]}" --snapshot-every 1 -o ranks.st
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [ "$(weights ranks.st)" = "$(weights alone.st)" ]
  [ "$(weights ranks.st.snapshots/epoch-000001.safetensors)" = "$(weights alone.st.snapshots/epoch-000001.safetensors)" ]
  noisy=(train --model resnet8 "${images[@]}" --epochs 1 --residual-perturbation additive --gamma 0.2 --relative --quiet) # its deviation is that of all ranks
  "$SOTTO" "${noisy[@]}" --threads 1 -o noisy.st
  run ranks -n 2 "$SOTTO" "${noisy[@]}" --threads 2 -o noisy-ranks.st
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [ "$(weights noisy-ranks.st)" = "$(weights noisy.st)" ]
  # coins come from the system: ranks find those of the one process
  canaries=("${few[@]}" --canaries 6)
  "$SOTTO" "${canaries[@]}" -o coins.st
  for n in 2 3; do
    cp coins.st.coins.json c$n.st.coins.json
    run ranks -n $n "$SOTTO" "${canaries[@]}" -o c$n.st
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    for f in "" .coins.json .canaries.npz; do cmp c$n.st$f coins.st$f; done
  done
  run ranks -n 2 "$SOTTO" "${canaries[@]}" -o own.st
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  run cmp -s own.st.coins.json coins.st.coins.json
  [ "$status" -ne 0 ]
}

# signalled SIGNAL RANKS TEXT: a run without an end, whose rank 1 gets the signal once the output says TEXT; to `said`
signalled() {
  rm -f said pid.* # of the run before
  : > said
  ranks -n "$2" bash -c 'echo $$ > "pid.$OMPI_COMM_WORLD_RANK"; exec "$@"' sh \
    "$SOTTO" pretrain "${images[@]}" --epochs "${epochs-1000000}" -o cut.st > said 2>&1 &
  until grep -q "$3" said; do sleep 0.05; done
  kill -"$1" "$(cat pid.1)"
  wait $!
}

@test "a signal to one rank stops all with a checkpoint, a lost rank ends the job; another number of ranks goes on" {
  run signalled USR1 2 "pretrain: simclr, .* on 2 ranks"
  [ "$status" -eq 130 ] || { cat said; return 1; }
  [ "$(grep -c 'sotto: error: pretrain: stopped after step' said)" -eq 1 ] && [ "$(grep -c 'sotto: error' said)" -eq 1 ] || { cat said; return 1; }
  [ ! -e cut.st ]
  [ -e cut.st.checkpoint ]
  run signalled KILL 3 "pretrain: continuing at step [0-9]* from cut.st.checkpoint"
  [ "$status" -ne 0 ]
  [ ! -e cut.st ]
  [ -e cut.st.checkpoint ]
  run signalled USR1 4 "pretrain: continuing at step [0-9]* from cut.st.checkpoint"
  [ "$status" -eq 130 ] && ! uncrowded < said | grep -i warning || { cat said; return 1; }
  printf '3\n' > cut.st.checkpoint.resumes # as tests/cli/storm.bats makes it
  run ranks -n 2 "$SOTTO" pretrain "${images[@]}" --epochs 1000000 -o cut.st
  [ "$status" -eq 70 ] || { echo "$status $output"; return 1; }
  [ "$(grep -c 'sotto: error' <<<"$output")" -eq 1 ]
  [[ "$output" == *"cut.st.checkpoint: 3 resumes in a row ended before"* ]]
}

@test "more threads than cores: one warning with the line to use" {
  run ranks -n 2 "$SOTTO" pretrain "${images[@]}" --epochs 1 --threads $(($(nproc --all) + 1)) -o x.st
  [ "$status" -eq 0 ]
  [ "$(grep -c 'so they wait for each other; start them with ' <<<"$output")" -eq 1 ] || { echo "$output"; return 1; }
  [[ "$output" == *"sotto: warning: pretrain: "*" threads of 2 ranks on $(hostname) have "* ]] || { echo "$output"; return 1; }
}

@test "Talos: the file of one process on ranks; stopped on two and on three, one process makes the same" {
  with_part
  images=(--data synthetic-faces-n40 "${common[@]}" --talos --lambda 2 --alternation joint --adversary-steps 2 --leaf 3)
  "$SOTTO" pretrain "${images[@]}" --epochs 2 --metrics alone.jsonl -o alone.st --quiet
  run ranks -n 4 "$SOTTO" pretrain "${images[@]}" --epochs 2 --threads 1 --metrics ranks.jsonl -o ranks.st --quiet
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [ "$(weights ranks.st)" = "$(weights alone.st)" ]
  [ "$(grep -c '"name":"adversary_loss"' ranks.jsonl)" -eq 2 ]
  diff <(grep -o '"name":"adversary.*"value":[^,]*' ranks.jsonl) <(grep -o '"name":"adversary.*"value":[^,]*' alone.jsonl)
  "$SOTTO" pretrain "${images[@]:0:${#images[@]}-1}" 4 --epochs 2 -o other.st --quiet # so that the comparison can fail
  other=$(weights other.st)
  [ "$other" != "$(weights alone.st)" ]
  epochs=20
  "$SOTTO" pretrain "${images[@]}" --epochs $epochs -o whole.st --quiet
  run signalled USR1 2 "pretrain: simclr, .* on 2 ranks"
  [ "$status" -eq 130 ] || { cat said; return 1; }
  run signalled USR1 3 "pretrain: continuing at step [0-9]* from cut.st.checkpoint"
  [ "$status" -eq 130 ] || { cat said; return 1; }
  "$SOTTO" pretrain "${images[@]}" --epochs $epochs --threads 2 -o cut.st --quiet
  [ "$(weights cut.st)" = "$(weights whole.st)" ]
}

@test "a rank that is stopped for good: the watchdog of another ends the job with 75" {
  export SOTTO_WATCHDOG_SECONDS=3
  run signalled STOP 2 "pretrain: simclr, .* on 2 ranks"
  [ "$status" -eq 75 ] || { echo "exit $status"; cat said; return 1; }
  grep "sotto: error: rank 0 (.*): no word from the other ranks for [0-9]* s; this process ends, and the same command continues" said
  [ ! -e cut.st ]
  [ -e cut.st.checkpoint ]
}

# The others do not wait for the rank that ends.
@test "a wrong variable of the environment, of all ranks or of one: one text" {
  for value in soon 0 nan 1e10; do
    SOTTO_WATCHDOG_SECONDS=$value run ranks -n 2 "$SOTTO" pretrain "${images[@]}" -o x.st
    [ "$status" -eq 64 ] || { echo "$status $output"; return 1; }
    [ "$(grep -c 'sotto: error' <<<"$output")" -eq 1 ] || { echo "$output"; return 1; }
    [[ "$output" == *"sotto: error: environment variable SOTTO_WATCHDOG_SECONDS is '$value'; expected a number from 1 to 1e9"* ]] || { echo "$output"; return 1; }
  done
  for wrong in 0 1; do
    set=("" "")
    set[wrong]="-x SOTTO_WATCHDOG_SECONDS=soon"
    run ranks -n 1 ${set[0]} "$SOTTO" pretrain "${images[@]}" -o x.st : -n 1 ${set[1]} "$SOTTO" pretrain "${images[@]}" -o x.st
    [ "$status" -eq 64 ] || { echo "$status $output"; return 1; }
    [ "$(grep -c 'sotto: error' <<<"$output")" -eq 1 ] || { echo "$output"; return 1; }
    [[ "$output" == *"sotto: error: rank $wrong ("*"): environment variable SOTTO_WATCHDOG_SECONDS is 'soon'; expected a number from 1 to 1e9"* ]] || { echo "$output"; return 1; }
  done
  SOTTO_ISA=v9 run ranks -n 3 "$SOTTO" pretrain "${images[@]}" -o x.st
  [ "$status" -eq 64 ]
  [ "$(grep -c 'sotto: error' <<<"$output")" -eq 1 ] || { echo "$output"; return 1; }
  run ranks -n 1 "$SOTTO" pretrain "${images[@]}" -o x.st : -n 1 -x SOTTO_ISA=v9 "$SOTTO" pretrain "${images[@]}" -o x.st
  [ "$status" -eq 64 ]
  [ "$(grep -c 'sotto: error' <<<"$output")" -eq 1 ] || { echo "$output"; return 1; }
  [[ "$output" == *"sotto: error: rank 1 ("*"): SOTTO_ISA is 'v9'; expected "* ]] || { echo "$output"; return 1; }
  [ -z "$(find . -name 'x.st*')" ]
}

# different TEXT CODE ARGUMENT...: rank 1 has these arguments; one line says what is wrong, and no file is written
different() {
  local text=$1 code=$2
  shift 2
  run ranks -n 1 "$SOTTO" pretrain "${images[@]}" -o x.st : -n 1 "$SOTTO" pretrain "$@" -o x.st
  [ "$status" -eq "$code" ] || { echo "exit $status: $output"; return 1; }
  [ "$(grep -c 'sotto: error' <<<"$output")" -eq 1 ] || { echo "$output"; return 1; }
  [[ "$output" == *"sotto: error: rank 1 ("*"): $text"* ]] || { echo "$output"; return 1; }
  [ -z "$(find . -name 'x.st*')" ]
}

@test "wrong arguments of all ranks: one text; of one rank: its text" {
  for arguments in "verison" "train --no-such-option" "pretrain --threads 0"; do
    run "$SOTTO" $arguments
    alone=$output
    run ranks -n 3 "$SOTTO" $arguments
    [ "$status" -eq 64 ] || { echo "$status $output"; return 1; }
    [ "$(grep -c 'sotto: error' <<<"$output")" -eq 1 ] || { echo "$output"; return 1; }
    [ "$(grep 'sotto: error' <<<"$output")" = "$alone" ] || { echo "$output"; return 1; }
  done
  run ranks -n 1 "$SOTTO" pretrain "${images[@]}" --epochs 1 -o x.st : -n 1 "$SOTTO" pretrain "${images[@]}" --epochs one -o x.st
  [ "$status" -eq 64 ] || { echo "$status $output"; return 1; }
  [ "$(grep -c 'sotto: error' <<<"$output")" -eq 1 ] || { echo "$output"; return 1; }
  [[ "$output" == *"sotto: error: rank 1 ("*"): --epochs: 'one' is not a whole number >= 0"* ]] || { echo "$output"; return 1; }
  [ -z "$(find . -name 'x.st*')" ]
}

@test "ranks that do not make the same run: one text, and nothing is written" {
  different "lr is 0.5, but 0.001 on rank 0; start all ranks with the same options" 65 "${images[@]}" --lr 0.5
  different "data with SHA-256 " 65 "${images[@]/n40/n41}"
  different "data set 'none' not found" 66 "${images[@]/synthetic-images-n40/none}"
  run ranks -n 9 "$SOTTO" pretrain "${images[@]}" -o x.st
  [ "$status" -eq 65 ]
  [[ "$output" == *"makes 8 leaves; 9 ranks were started, but at most 8 can work"* ]]
  [[ "$output" == *"give a larger --batch, a smaller --leaf or fewer ranks"* ]]
  run ranks -n 2 "$SOTTO" pretrain --data synthetic-images-n40 --batch 16 --order fast -o x.st
  [ "$status" -eq 69 ]
  [[ "$output" == *"order fast cannot run on several ranks; give order exact"* ]]
  [ -z "$(find . -name 'x.st*')" ]
}

@test "ranks with other verbs are refused; none waits" {
  run ranks -n 1 "$SOTTO" pretrain "${images[@]}" -o x.st : -n 1 "$SOTTO" train --model cnn "${images[@]}" -o x.st
  [ "$status" -eq 64 ] || { echo "$status $output"; return 1; }
  [ "$(grep -c 'sotto: error' <<<"$output")" -eq 1 ]
  [[ "$output" == *"sotto: error: rank 1 ("*"): the verb is train, but pretrain on rank 0; start all ranks with the same command"* ]] || { echo "$output"; return 1; }
  [ -z "$(find . -name 'x.st*')" ]
}

@test "ranks whose kernels give other bits are refused" {
  "$SOTTO" version | grep -q 'ISA v[34]' || skip "this CPU has one level only"
  run ranks -n 1 "$SOTTO" pretrain "${images[@]}" -o x.st : -n 1 -x SOTTO_ISA=v2 "$SOTTO" pretrain "${images[@]}" -o x.st
  [ "$status" -eq 69 ] || { echo "$output"; return 1; }
  [[ "$output" == *"sotto: error: rank 1 ("*") computes other bits than rank 0 ("*"): v2 against v"*"hint: give --isa common, the lowest level of all"* ]]
  [ -z "$(find . -name 'x.st*')" ]
}

@test "--isa common: the lowest level of all ranks, and its bits" {
  "$SOTTO" version | grep -q 'ISA v[34]' || skip "this CPU has one level only"
  SOTTO_ISA=v2 "$SOTTO" pretrain "${images[@]}" -o low.st --quiet
  "$SOTTO" pretrain "${images[@]}" -o high.st --quiet
  high=$(weights high.st)
  [ "$high" != "$(weights low.st)" ] # else nothing is shown
  for low in 0 1; do # the rank that has the lowest level
    limit=("" "")
    limit[low]="-x SOTTO_ISA=v2"
    ranks -n 1 ${limit[0]} "$SOTTO" pretrain "${images[@]}" --isa common -o x.st --quiet : -n 1 ${limit[1]} "$SOTTO" pretrain "${images[@]}" --isa common -o x.st
    [ "$(weights x.st)" = "$(weights low.st)" ]
    rm x.st*
  done
  run ranks -n 1 "$SOTTO" pretrain "${images[@]}" -o x.st : -n 1 "$SOTTO" pretrain "${images[@]}" --isa common -o x.st
  [ "$status" -eq 64 ]
  [ "$(grep -c 'sotto: error' <<<"$output")" -eq 1 ]
  [[ "$output" == *"sotto: error: rank 1 uses the lowest instruction set of all ranks, but rank 0 does not; start all ranks with the same --isa"* ]]
  run "$SOTTO" pretrain "${images[@]}" --isa v2 -o x.st
  [ "$status" -eq 64 ]
  [[ "$output" == *"--isa: 'v2' is unknown; expected common"* ]]
  [ -z "$(find . -name 'x.st*')" ]
}

@test "the launcher's variables without its processes, or an older plug-in: refused, not run alone" {
  run env OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=0 "$SOTTO" pretrain "${images[@]}" -o x.st
  [ "$status" -eq 69 ] && [[ "$output" == *"started as rank 0 of 4 (Open MPI), but for MPI it is rank 0 of 1"* ]] || { echo "$output"; return 1; }
  run env OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=0 SOTTO_MPI_LIBRARY="$SOTTO_BUILD/libsotto.so" "$SOTTO" pretrain "${images[@]}" -o x.st
  [ "$status" -eq 69 ] && [[ "$output" == *"libsotto.so is of another version of sotto"* ]] || { echo "$output"; return 1; }
  [ -z "$(find . -name 'x.st*')" ]
}
