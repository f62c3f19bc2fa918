#!/usr/bin/env bats
# label: landing
# One hash after 3 steps, whatever the number of ranks (1, 2, 3, 4, 7) and threads of each (1, 2, 3): every network and every kind of sum
# across leaves, f32 and, where the CPU has it, bf16, at 1, 2, 5, 6, 7 and 8 leaves of a step. All of it at night; 7 leaves on 2 to 7 ranks
# at the landing, on 3 in make check. The last tests are the controls: a program with a defect of which such a comparison must tell.
# (Dropout is in no network of the program: tests/property/nn/test_leaves.c. Noise by the place in the leaf gives the same bits on any
# number of ranks, and is caught there, too.)

bats_require_minimum_version 1.5.0
load ../support/effort

setup() {
  command -v mpirun >/dev/null || skip "no mpirun (openmpi-bin)"
  mpirun --version | grep -q 'Open MPI' || skip "mpirun is not that of Open MPI"
  [ -e "$SOTTO_BUILD/libsotto_mpi.so" ] || skip "the plug-in for MPI was not built (libopenmpi-dev)"
  dir=$(mktemp -d)
  cd "$dir"
  export XDG_DATA_HOME=$dir/data XDG_CACHE_HOME=$dir/cache SOTTO_MPI_LIBRARY=$SOTTO_BUILD/libsotto_mpi.so
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
  export OMPI_MCA_orte_tmpdir_base=$dir # a lost rank leaves its folder there
  unset OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_RANK PMI_SIZE PMI_RANK SLURM_STEP_NUM_TASKS SLURM_PROCID PMIX_RANK
  backend=dnnl
  "$SOTTO" version | grep -q oneDNN || backend=ref
  dtypes=f32
  ! "$SOTTO" version | grep -q v4bf16 || dtypes="f32 bf16"
  few=$(by_effort "3x1 1x3" "3x1 1x3 2x2 7x1 3x3" "")
}
teardown() { cd /; [ -z "${dir-}" ] || rm -rf "$dir"; }

# a build without that module has no such part of pretrain
with_part() { "$SOTTO" pretrain --help all | grep -q -e '--talos' || skip "this build has no pretrain --talos"; }
# SIGTERM alone does not always end mpirun
ranks() { timeout -k 5 300 mpirun --oversubscribe "$@"; }

# network NAME LEAVES: arguments of three steps of so many leaves of two records
network() {
  local batch=$((2 * $2))
  local images=(--data "synthetic-images-n$((3 * batch))") steps=(--batch $batch --leaf 2 --order exact --epochs 1)
  case $1 in
  simclr) ;;
  talos*) images=(--data "synthetic-faces-n$((3 * batch))" --talos --lambda 2) ;;
  *) steps+=(--labels-from 0) ;;
  esac
  case $1 in
  simclr) arguments=(pretrain "${images[@]}" "${steps[@]}") ;;
  talos) arguments=(pretrain "${images[@]}" --alternation joint --adversary-steps 2 --adversary-reads images "${steps[@]}") ;;
  talos-batch-norm) arguments=(pretrain --encoder resnet8 "${images[@]}" --alternation two-pass --bounded "${steps[@]}") ;;
  batch-norm) arguments=(train --model resnet8 --norm batch "${images[@]}" "${steps[@]}") ;;
  group-norm) arguments=(train --model resnet8 --norm group "${images[@]}" "${steps[@]}") ;;
  residual) arguments=(train --model resnet8 --residual-perturbation additive --gamma 0.2 --relative "${images[@]}" "${steps[@]}") ;;
  mlp) arguments=(train --model mlp --hidden 1024 "${images[@]}" "${steps[@]}") ;; # a smaller one is one leaf
  # not cut into leaves: groups of records whose sums are whole numbers
  dp-sgd) arguments=(train --model cnn --hidden 4,8 --data synthetic-images-n64 --dp-sgd --noise-multiplier 2 --insecure-noise-seed 5 --batch 64
    --steps 3 --ledger "l$RANDOM$RANDOM.jsonl") ;;
  esac
}

# hash PROGRAM RANKS THREADS DTYPE: of the file
hash() {
  rm -f x.st*
  local command=("$1" "${arguments[@]}" --dtype "$4" --backend $backend --threads "$3" --seed 3 --quiet -o x.st) start=()
  [ "$2" -eq 1 ] || start=(ranks -n "$2")
  "${start[@]}" "${command[@]}" > said 2>&1 || { cat said >&2; return 1; }
  sha256sum < x.st
}

# one_hash NAME DTYPE LEAVES PAIR...: PAIR: ranks and threads, 3x2; as one process of one thread
one_hash() {
  local name=$1 dtype=$2 leaves=$3 first now pair
  shift 3
  network "$name" "$leaves"
  first=$(hash "$SOTTO" 1 1 "$dtype")
  for pair in "$@"; do
    now=$(hash "$SOTTO" "${pair%x*}" "${pair#*x}" "$dtype")
    [ "$now" = "$first" ] || { echo "$name, $dtype, $leaves leaves: $pair ranks x threads gives other bits"; return 1; }
  done
}

# everywhere NAME DTYPES: a part, or all
everywhere() {
  local dtype leaves n threads pairs
  for dtype in $2; do
    if [ -n "$few" ]; then
      one_hash "$1" "$dtype" 7 $few
      continue
    fi
    for leaves in 1 2 5 6 7 8; do
      pairs=()
      for n in 1 2 3 4 7; do
        [ "$1" = dp-sgd ] || [ $n -le $leaves ] || continue
        for threads in 1 2 3; do pairs+=("${n}x$threads"); done
      done
      one_hash "$1" "$dtype" $leaves "${pairs[@]}"
      [ "$1" != dp-sgd ] || break
    done
  done
}

@test "keras-simclr: contrastive loss over all leaves" { everywhere simclr "$dtypes"; }
@test "resnet8: batch norm over all leaves" { everywhere batch-norm "$dtypes"; }
@test "resnet8: group norm" { everywhere group-norm "$dtypes"; }
@test "resnet8: relative residual noise, by deviations of the whole batch" { everywhere residual "$dtypes"; }
@test "a dense network" { everywhere mlp "$dtypes"; }
@test "Talos: encoder and classifier in one step" { with_part; everywhere talos "$dtypes"; }
@test "Talos, resnet8: in turns, over batch norm" { with_part; everywhere talos-batch-norm "$dtypes"; }
@test "DP-SGD with seeded noise" { everywhere dp-sgd f32; }

@test "control: sums by ranks, as of MPI_Allreduce, give other bits" {
  network mlp 5
  alone=$(hash "$SOTTO_PLANTED_PROGRAM" 1 1 f32)
  [ "$(hash "$SOTTO_PLANTED_PROGRAM" 3 1 f32)" = "$alone" ]
  export SOTTO_PLANTED=rank-sums
  [ "$(hash "$SOTTO_PLANTED_PROGRAM" 1 1 f32)" = "$alone" ]
  other=$(hash "$SOTTO_PLANTED_PROGRAM" 3 1 f32)
  [ "$other" != "$alone" ]
}

# The first pass is the classifier's alone, so the encoder is none of it; the loss of later steps shows what it learnt.
@test "control: sums of Talos's classifier by ranks give other bits" {
  with_part
  loss() { # PROGRAM RANKS
    arguments=(pretrain --data synthetic-faces-n30 --talos --lambda 2 --batch 10 --leaf 2 --order exact --epochs 1 --metrics "m$2.jsonl")
    rm -f m*.jsonl
    hash "$1" "$2" 1 f32 > /dev/null
    grep -o '"adversary_loss","value":[^,]*' "m$2.jsonl"
  }
  alone=$(loss "$SOTTO_PLANTED_PROGRAM" 1)
  [ -n "$alone" ]
  [ "$(loss "$SOTTO_PLANTED_PROGRAM" 3)" = "$alone" ]
  export SOTTO_PLANTED=rank-sums
  [ "$(loss "$SOTTO_PLANTED_PROGRAM" 1)" = "$alone" ]
  other=$(loss "$SOTTO_PLANTED_PROGRAM" 3)
  [ "$other" != "$alone" ]
}

@test "control: noise by the place among a rank's leaves gives other bits" {
  network residual 2
  alone=$(hash "$SOTTO_PLANTED_PROGRAM" 1 1 f32)
  [ "$(hash "$SOTTO_PLANTED_PROGRAM" 2 1 f32)" = "$alone" ]
  export SOTTO_PLANTED=rank-noise
  [ "$(hash "$SOTTO_PLANTED_PROGRAM" 1 1 f32)" = "$alone" ]
  other=$(hash "$SOTTO_PLANTED_PROGRAM" 2 1 f32)
  [ "$other" != "$alone" ]
}

@test "control: segments of the optimizer beside those of the sums give other bits" {
  network simclr 4
  alone=$(hash "$SOTTO_PLANTED_PROGRAM" 1 1 f32)
  [ "$(hash "$SOTTO_PLANTED_PROGRAM" 2 1 f32)" = "$alone" ]
  [ "$(hash "$SOTTO_PLANTED_PROGRAM" 3 1 f32)" = "$alone" ]
  export SOTTO_PLANTED=rank-segments
  [ "$(hash "$SOTTO_PLANTED_PROGRAM" 1 1 f32)" = "$alone" ]
  other=$(hash "$SOTTO_PLANTED_PROGRAM" 2 1 f32)
  [ "$other" != "$alone" ]
  other=$(hash "$SOTTO_PLANTED_PROGRAM" 3 1 f32)
  [ "$other" != "$alone" ]
}
