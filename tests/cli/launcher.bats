#!/usr/bin/env bats
# shards: 7
# Started by a launcher (its variables are set here; none is needed): never several copies of one run by accident.

setup() {
  dir=$(mktemp -d)
  cd "$dir"
  export XDG_DATA_HOME=$dir/data XDG_CACHE_HOME=$dir/cache
  unset OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_RANK PMI_SIZE PMI_RANK SLURM_STEP_NUM_TASKS SLURM_PROCID PMIX_RANK
  export SOTTO_MPI_LIBRARY=$dir/none.so # as if there were no plug-in for MPI; tests/cli/mpi.bats has one
  data=synthetic-images-n28
  pretrain=(pretrain --data $data --epochs 1 --batch 4 --quiet -o e.safetensors)
}
teardown() { cd /; rm -rf "$dir"; }

names() { find "$dir" | LC_ALL=C sort; }

# refused RANK LAUNCHER VARIABLE=VALUE... -- ARGUMENTS: exit 69, the text, and not one new file
refused() {
  local rank=$1 launcher=$2 variables=() before
  shift 2
  while [ "$1" != -- ]; do variables+=("$1"); shift; done
  shift
  before=$(names)
  run env "${variables[@]}" "$SOTTO" "$@"
  [ "$status" -eq 69 ] || { echo "$*: exit $status: $output"; return 1; }
  local why="this verb cannot run on several ranks yet" do="start sotto without the launcher"
  case $1 in pretrain | train) why="this sotto has no MPI support: $SOTTO_MPI_LIBRARY cannot be loaded: $SOTTO_MPI_LIBRARY: cannot open shared object file: No such file or directory"
    do="install the package sotto-mpi, or build the plug-in with 'make mpi'" ;;
  esac
  [ "${lines[0]}" = "sotto: error: started as $rank ($launcher), but $why" ] || { echo "$output"; return 1; }
  [[ "${lines[1]}" == "hint: $do, or give --alone to run "*"separate copies on purpose" ]]
  [ "${#lines[@]}" -eq 2 ]
  [ "$(names)" = "$before" ]
}
# malformed TEXT VARIABLE=VALUE...: the number of processes is unknown, so nothing runs
malformed() {
  local text=$1 before
  shift
  before=$(names)
  for verb in version "${pretrain[*]}"; do
    run env "$@" "$SOTTO" $verb
    [ "$status" -eq 69 ] || { echo "$*: exit $status: $output"; return 1; }
    [ "${lines[0]}" = "sotto: error: environment variable $text" ] || { echo "$output"; return 1; }
    [[ "${lines[1]}" == "hint: "*"--alone"* ]]
    [ "$(names)" = "$before" ]
  done
}
# works VARIABLE=VALUE...: one process
works() {
  run env "$@" "$SOTTO" "${pretrain[@]}"
  [ "$status" -eq 0 ] || { echo "$*: exit $status: $output"; return 1; }
  [ -f e.safetensors ]
  rm e.safetensors
}

together=("demo" "pretrain" "embed" "head" "protect" "predict" "train")
shared=("run" "sensitivity" "attack")
by_one=("data list" "encoder import none" "account --mechanism gaussian --scale 1 --l2 1 --delta 1e-5" "audit" "report none" "compare"
        "inspect none" "selftest" "version" "ledger show" "key show none" "verify none" "certificate none")

@test "every verb is in one of the three lists" { # those of modules are tested in their folders
  both=$(for verb in "${together[@]}" "${shared[@]}" "${by_one[@]}"; do echo "${verb%% *}"; done | sort)
  modules=$(sed -n 's/^PLUG_VERB(\(.*\))$/\1/p' "$BATS_TEST_DIRNAME"/../../src/modules/*/*_plugs.h 2> /dev/null || :)
  [ "$both" = "$("$SOTTO" help | sed -n 's/^  sotto \([a-z-]*\) .*/\1/p' | grep -vxF "$modules" | sort)" ]
}

@test "verbs that all ranks would run together are refused, under every launcher" {
  for verb in "${together[@]}"; do
    refused "rank 0 of 4" "Open MPI" OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=0 -- $verb
    refused "rank 3 of 4" "MPICH/PMI" PMI_SIZE=4 PMI_RANK=3 -- $verb
    refused "rank 1 of 2" "Slurm" SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=1 -- $verb
    refused "rank 0" "PMIx" PMIX_RANK=0 -- $verb
  done
}

@test "a training, a release and their kind: nothing is read or written; --alone runs them" {
  four=(OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=2 PMIX_RANK=2)
  "$SOTTO" "${pretrain[@]}"
  "$SOTTO" embed --encoder e.safetensors --data $data -o X.npy --labels-out y.npy --quiet
  "$SOTTO" embed --encoder scattering --data $data -o S.npy --quiet # no record shaped its columns
  "$SOTTO" head --features S.npy --labels y.npy --epochs 2 -o h.safetensors --quiet
  release=(--epsilon 1 --delta 1e-5 --l2 0.04 --ledger ledger.jsonl -o out.safetensors)
  for command in "pretrain --data $data --epochs 1 --batch 4 -o new.safetensors" \
                 "train --data $data --model mlp --epochs 1 --batch 4 -o new.safetensors" \
                 "embed --encoder e.safetensors --data $data -o new.npy" \
                 "head --features X.npy --labels y.npy --epochs 2 -o new.safetensors" \
                 "head --features S.npy --labels y.npy --trainer dp-adam --classes 10 --batch 4 --epsilon 3 --ledger new.jsonl -o new.safetensors" \
                 "protect --head h.safetensors ${release[*]}" \
                 "predict --head h.safetensors --features S.npy -o new.npy"; do
    refused "rank 2 of 4" "Open MPI" "${four[@]}" -- $command
    run env "${four[@]}" "$SOTTO" $command --alone --quiet
    [ "$status" -eq 0 ] || { echo "$command: $output"; return 1; }
    rm -f new.*
  done
  [ -f out.safetensors ]
  [ "$(wc -l < ledger.jsonl)" -eq 2 ] # the charge, and what came out of it
}

# ranks TEXT COMMAND...: each rank of 2 ends with 64, the second one after a while and with its name
ranks_refused() {
  local text=$1 rank before
  shift
  before=$(names)
  for rank in 0 1; do
    run env OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=$rank "$SOTTO" "$@"
    [ "$status" -eq 64 ] || { echo "$*: exit $status: $output"; return 1; }
    [ $rank -eq 0 ] || text="rank 1 ($(hostname)): $text"
    [ "${lines[0]}" = "sotto: error: $text" ] || { echo "$output"; return 1; }
    [ "$(names)" = "$before" ]
  done
}

@test "ranks that are workers need a folder and something to share; a plan and a list are rank 0's" {
  "$SOTTO" data split synthetic-blobs-d4-k3-n60 --parts a=60 -o b --quiet
  pairs=(sensitivity --features b/a-features.npy --labels b/a-labels.npy --epochs 2 --batch 10)
  ranks_refused "sensitivity: several ranks share blocks of pairs through a folder; give --pairs and --cache, or start it without the launcher" \
    "${pairs[@]}" --pairs 8 -o s.json
  ranks_refused "--shard: ranks of a launcher take any open task; omit it, or give --alone" "${pairs[@]}" --pairs 8 --cache c --shard auto -o s.json
  ranks_refused "attack: several ranks share shadow models through a folder; give --cache, or start it without the launcher" attack shokri
  ranks_refused "attack: encoder has no work that several ranks can share; start it without the launcher" attack encoder
  ranks_refused "attack: --budget counts the queries of one process, but each rank asks the target; omit it, or start it without the launcher" \
    attack shokri --cache c --budget 10
  for command in "attack list" "${pairs[*]} --pairs 8 --plan"; do
    run env PMI_SIZE=2 PMI_RANK=0 "$SOTTO" $command
    [ "$status" -eq 0 ]
    [ -n "$output" ]
    run env PMI_SIZE=2 PMI_RANK=1 "$SOTTO" $command
    [ "$status" -eq 0 ]
    [ -z "$output" ]
  done
}

@test "with --json the refusal is one object with its hint" {
  run env PMI_SIZE=2 PMI_RANK=1 "$SOTTO" embed --json
  [ "$status" -eq 69 ]
  [[ "$output" == '{"error": "started as rank 1 of 2 (MPICH/PMI), but this verb cannot run on several ranks yet", "hint": "start sotto '*'"exit_code": 69}' ]]
}

@test "the other verbs: rank 0 does the work, the others exit with 0 and print nothing" {
  for verb in "${by_one[@]}"; do
    run env PMI_SIZE=3 PMI_RANK=2 "$SOTTO" $verb
    [ "$status" -eq 0 ]
    [ -z "$output" ]
  done
  for verb in "${by_one[0]}" "${by_one[1]}" "version"; do
    run "$SOTTO" $verb
    alone=$output code=$status
    for variables in "OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK" "PMI_SIZE=3 PMI_RANK" "SLURM_STEP_NUM_TASKS=3 SLURM_PROCID" PMIX_RANK; do
      run env $variables=0 "$SOTTO" $verb
      [ "$status" -eq $code ]
      [ "$output" = "$alone" ]
      run env $variables=1 "$SOTTO" $verb
      [ "$status" -eq 0 ]
      [ -z "$output" ]
      run env $variables=1 "$SOTTO" $verb --alone
      [ "$status" -eq $code ]
      [ "$output" = "$alone" ]
    done
  done
}

@test "files of the other verbs are written once: an import, a charge in a ledger" {
  printf '"1",0,1\n"2",1,1\n"1",1,0\n' > t.csv
  echo '{"history": [[1.5, 0.04, 2250]], "mechanism": "rdp"}' > opacus.json
  for rank in 2 1 0; do
    before=$(names)
    env PMI_SIZE=3 PMI_RANK=$rank "$SOTTO" data import t.csv --name t
    env PMI_SIZE=3 PMI_RANK=$rank "$SOTTO" account --opacus-history opacus.json --import --ledger l.jsonl --delta 1e-5
    [ $rank -eq 0 ] || [ "$(names)" = "$before" ]
  done
  [ "$(wc -l < l.jsonl)" -eq 1 ]
  run "$SOTTO" data info t
  [ "$status" -eq 0 ]
}

@test "one rank, an empty variable, SLURM_NTASKS: no launcher" {
  works OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0
  works PMI_SIZE=1 PMI_RANK=0
  works SLURM_NTASKS=4 SLURM_PROCID=0
  works SLURM_STEP_NUM_TASKS=1 SLURM_PROCID=0 SLURM_NTASKS=4 PMIX_RANK=0 # srun -n 1 in a batch job of 4
  works OMPI_COMM_WORLD_SIZE= PMI_SIZE= SLURM_STEP_NUM_TASKS= PMIX_RANK=
  works OMPI_COMM_WORLD_RANK=0
}

@test "launchers within each other: any that started several ranks counts" {
  refused "rank 1 of 2" "Slurm" OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0 SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=1 -- "${pretrain[@]}"
  refused "rank 3" "PMIx" SLURM_STEP_NUM_TASKS=1 PMIX_RANK=3 -- "${pretrain[@]}"
  refused "rank 3 of 8" "Open MPI" OMPI_COMM_WORLD_SIZE=8 OMPI_COMM_WORLD_RANK=3 SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=1 -- "${pretrain[@]}"
}

@test "wrong arguments: rank 0 says so, another rank only if the launcher does not end it" {
  for arguments in "verison" "train --no-such-option" "train --isa fastest" "account --threads 0" "head --quiet --quiet"; do
    run "$SOTTO" $arguments
    [ "$status" -eq 64 ]
    alone=$output
    run env OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 PMIX_RANK=0 "$SOTTO" $arguments
    [ "$status" -eq 64 ]
    [ "$output" = "$alone" ]
  done
  for variables in "OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=2 PMIX_RANK=2" "PMI_SIZE=3 PMI_RANK=2" "SLURM_STEP_NUM_TASKS=3 SLURM_PROCID=2" "PMIX_RANK=2"; do
    run env $variables "$SOTTO" train --no-such-option
    [ "$status" -eq 64 ]
    [ "$output" = "sotto: error: rank 2 ($(hostname)): train: unknown option '--no-such-option'; see 'sotto train --help'" ] || { echo "$output"; return 1; }
    run env $variables "$SOTTO" train --no-such-option --alone # a run of its own
    [ "$output" = "sotto: error: train: unknown option '--no-such-option'; see 'sotto train --help'" ] || { echo "$output"; return 1; }
    env $variables "$SOTTO" train --no-such-option > said 2>&1 & # as a launcher does once rank 0 has ended
    rank=$!
    sleep 0.5
    kill -TERM $rank
    code=0
    wait $rank || code=$?
    [ $code -eq 143 ]
    [ ! -s said ]
  done
}

@test "malformed variables: refused, for every verb" {
  size="OMPI_COMM_WORLD_SIZE is" range="expected a whole number from 1 to 1073741824"
  for value in 0 -2 4x many 1.5 99999999999999999999; do
    malformed "$size '$value'; $range" "OMPI_COMM_WORLD_SIZE=$value" OMPI_COMM_WORLD_RANK=0
  done
  malformed "PMI_RANK is ''; expected a whole number from 0 to 3" PMI_SIZE=4
  malformed "PMI_RANK is '4'; expected a whole number from 0 to 3" PMI_SIZE=4 PMI_RANK=4
  malformed "SLURM_PROCID is '-1'; expected a whole number from 0 to 1" SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=-1
  malformed "PMIX_RANK is 'x'; expected a whole number from 0 to 1073741823" PMIX_RANK=x
  run env OMPI_COMM_WORLD_SIZE=many "$SOTTO" version --alone
  [ "$status" -eq 0 ]
}

@test "help needs no launcher, and names --alone" {
  run env PMI_SIZE=0 "$SOTTO" pretrain --help all
  [ "$status" -eq 0 ]
  [[ "$output" == *"--alone "*"although a launcher (mpirun, srun) started it"* ]]
}

@test "work that can go on is stopped before a Slurm job ends, and goes on to the same bits" {
  long=(train --data synthetic-blobs-n2000 --model mlp --hidden 64 --epochs 1200 --batch 20 --dtype f32 --backend dnnl --threads 1 --order exact --seed 3)
  SLURM_JOB_END_TIME=$(date +%s) run "$SOTTO" "${long[@]}" -o a.safetensors
  [ "$status" -eq 130 ] || { echo "$status $output"; false; }
  [[ "$output" == *"sotto: the job's time is nearly over: stopping after this step"* && "$output" == *"stopped after step"* ]]
  [ -s a.safetensors.checkpoint ]
  [ ! -e a.safetensors ]
  "$SOTTO" "${long[@]}" --quiet -o a.safetensors
  SLURM_JOB_END_TIME=$(date +%s) "$SOTTO" "${long[@]}" --time-left 0 --quiet -o b.safetensors
  cmp a.safetensors b.safetensors
  SLURM_JOB_END_TIME=1 run "$SOTTO" account --mechanism laplace --scale 2 --l1 1 # has nothing to go on from
  [ "$status" -eq 0 ]
  for end in "" soon 17x; do
    SLURM_JOB_END_TIME=$end run "$SOTTO" "${long[@]}" --time-left 5 -o c.safetensors
    [ "$status" -eq 64 ]
    [[ "${lines[0]}" == *"--time-left: SLURM_JOB_END_TIME is '$end'; expected the end of a Slurm job in seconds since 1970" ]]
  done
  [ ! -e c.safetensors.checkpoint ]
}
