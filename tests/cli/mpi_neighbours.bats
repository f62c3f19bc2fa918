#!/usr/bin/env bats
# label: landing
# Private trainings on 2 ranks of mpirun, on neighbouring files: whatever one record is, and in whatever order the records stand, all that
# leaves the ranks is the same but for the noise: what they print (both, in one stream for errors), the exit code, the names and sizes of
# files, ledger, certificate and the facts of the model. f32, 1 thread a rank. tests/cli/neighbours.bats does so in one process.
# The last test is the control. Every neighbour at the landing, every command too at night.

load ../support/effort

setup() {
  command -v mpirun > /dev/null || skip "no mpirun (openmpi-bin)"
  mpirun --version | grep -q 'Open MPI' || skip "mpirun is not that of Open MPI"
  [ -e "$SOTTO_BUILD/libsotto_mpi.so" ] || skip "the plug-in for MPI was not built (libopenmpi-dev)"
  dir=$(mktemp -d)
  cd "$dir"
  export XDG_CACHE_HOME=$dir/cache SOTTO_CACHE_DIR=/dev/null SOTTO_MPI_LIBRARY=$SOTTO_BUILD/libsotto_mpi.so
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
  export OMPI_MCA_orte_tmpdir_base=$dir # a lost rank leaves its folder there
  unset OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_RANK PMI_SIZE PMI_RANK SLURM_STEP_NUM_TASKS SLURM_PROCID PMIX_RANK
  printf '%s\n' 1,2,0 0,1,1 2,0,-1 1,1,1 > public.csv # of clipbkd canaries
  backend=dnnl
  "$SOTTO" version | grep -q oneDNN || backend=ref
  whole=$(by_effort no no yes) few=$(by_effort yes no no) ranks=2
}
teardown() { cd /; [ -z "${dir-}" ] || rm -rf "$dir"; }

# write_set FOLDER KIND VARIANT: 24 records of 3 features, or of 8x8 pixels, of classes 0 and 1 (of 3); record 11 is the variant's
write_set() {
  python3 - "$@" << 'P'
import os, struct, sys
folder, kind, variant = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
def npy(name, descr, shape, data):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    open(f"{folder}/{name}.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)
n = 24
labels = [i % 2 for i in range(n)]
if kind == "features":
    rows = [[i % 2, 2 - i % 2, i % 3 - 1 + i / 64] for i in range(n)]
    odd = {"huge": [1, 1e30, -1e30], "replaced": [2, -1, 9]}
else:
    rows = [[(7 * i + j * (1 + i % 2)) % 251 for j in range(64)] for i in range(n)]
    odd = {"huge": [255, 0] * 32, "replaced": [0] * 64}
if kind == "public":
    rows = [[255 - v for v in r] for r in rows]
rows[11] = odd.get(variant, rows[11])
if variant == "repeated":
    rows[11] = rows[3]
labels[11] = {"label": 2, "beyond": 9}.get(variant, labels[10])
if variant == "order":
    rows.reverse(), labels.reverse()
if kind == "features":
    npy("features", "<f8", (n, 3), b"".join(struct.pack("<3d", *r) for r in rows))
else:
    npy("images", "|u1", (n, 1, 8, 8), b"".join(map(bytes, rows)))
npy("labels", "|u1", (n,), bytes(labels))
P
}
# sets KIND NEIGHBOUR...: folders base and the neighbours, each with its import in NAME.home
sets() {
  local kind=$1
  shift
  variants=(base "$@")
  for v in "${variants[@]}"; do
    write_set "$v.set" "$kind" "$v"
    XDG_DATA_HOME=$PWD/case-$v.home "$SOTTO" data import "$v.set" --name toy --dataset-id toy --quiet > /dev/null
  done
}

# Hashes, times and random names out.
facts() {
  sed -E 's/"contact":"0+"/"contact":"ZEROS"/; /"event":"records"/s/[0-9a-f]{16}/DIGITS/g; s/, plan [0-9a-f]{32}/, plan NAME/g; s/[0-9a-f]{64}/HASH/g; s/[0-9a-f]{32}/RUN/g; s/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z/TIME/g; s/ +min .*//; s/Process name: .*/Process name: NAME/'
}
# outcome NAME COMMAND...: all that the command leaves with the set NAME, to NAME.outcome; but for the noise
outcome() {
  local name=case-$1 code=0 f start=(timeout -k 5 300 mpirun --oversubscribe -n 2)
  shift
  [ $ranks -gt 1 ] || start=()
  rm -rf "$name" "$name.home/sotto/ledger"
  mkdir "$name"
  (cd "$name" && XDG_DATA_HOME="$dir/$name.home" "${start[@]}" "$@" > out 2> err) || code=$?
  {
    echo "exit $code"
    cat "$name/out" "$name/err"
    (cd "$name" && find . -type f ! -path './private/*' ! -name out ! -name err -exec wc -c {} + | sort -k 2)
    (cd "$name" && [ ! -d private ] || find private -type f ! -path 'private/checkpoints/*' ! -path 'private/protected/*' | sort)
    (cd "$name" && [ ! -d private ] || find private/protected -type f -exec wc -c {} + | sort -k 2)
    for f in $(find "$name" -name '*.certificate.json' | sort); do cat "$f"; done
    cat "$name.home"/sotto/ledger/*.jsonl
    for f in $(find "$name" -name '*.safetensors' ! -path '*/private/*' | sort) $(find "$name" -path '*/protected/*.safetensors' | sort); do "$SOTTO" inspect "$f"; done
  } 2>&1 | sed "s|$name||g" | facts > "$name.outcome"
}
# same CODE COMMAND...: every neighbour has the outcome of base, which ends with the code
same() {
  local code=$1
  shift
  for v in "${variants[@]}"; do
    outcome "$v" "$@"
    [ "$v" != base ] || head -n 1 case-base.outcome | grep -qx "exit $code" || { echo "base: $*"; cat case-base.outcome; return 1; }
    diff case-base.outcome "case-$v.outcome" || { echo "$v: $*"; return 1; }
  done
}
# resumed FROM TO COMMAND...: its second charge finds the disk full on FROM ranks, and TO ranks go on. The ledger starts with a contact of
# such a length that the digests of the records (0.7 kB) and one entry (1.2 kB) fit below the limit, but not two.
resumed() {
  local from=$1 to=$2 code=0
  shift 2
  "$SOTTO" ledger init --dataset-id toy --budget 1000,0.5 --contact "$(printf "%0$((100 * 1024 - 2500 - 350))d" 0)" --quiet > /dev/null
  timeout -k 5 300 mpirun --oversubscribe -n "$from" bash -c '[ $OMPI_COMM_WORLD_RANK -ne 0 ] || { ulimit -f 100; trap "" XFSZ; }; exec "$@"' sh "$@" || code=$?
  echo "stopped with $code at a ledger of $(wc -c < "$XDG_DATA_HOME/sotto/ledger/toy.jsonl") bytes"
  find . -type f ! -name out ! -name err -exec wc -c {} + | sort -k 2
  timeout -k 5 300 mpirun --oversubscribe -n "$to" "$@"
}
train() {
  program=${program:-$SOTTO}
  private=("$program" train --data toy --classes 3 --epochs 2 --threads 1 --dtype f32 --backend $backend --dataset-id toy -o m.safetensors)
}
every=(huge label beyond repeated replaced order)

@test "train --dp-sgd on 2 ranks leaves the same for neighbouring data" {
  train
  private+=(--model mlp --hidden 4 --dp-sgd --noise-multiplier 12 --batch 8)
  if [ $few = yes ]; then sets features huge beyond order; else sets features "${every[@]}"; fi
  same 0 "${private[@]}" --clipping quantile
  [ "$(grep -c '"event":"reserve"' case-base.outcome)" -eq 1 ] # what is compared is all there
  grep -q '"statement"' case-base.outcome
  grep -q ' m.safetensors$\| ./m.safetensors$' case-base.outcome
  [ $whole = yes ] || return 0
  same 0 "${private[@]}" --noise logistic --ema 0.9 --reserve-steps 3 --json
  same 0 "${private[@]}" --sampling fixed --quiet
  same 77 "${private[@]}" --budget-epsilon 0.01 # refused, and nothing is charged
  same 0 "${private[@]}" --adjacency zero-out --insecure-noise-seed 3
}

# The scores are no release (docs/PRIVACY.md): of OUT.canaries.npz name and size are compared.
@test "train --dp-sgd with canaries on 2 ranks leaves the same for neighbouring data" {
  train
  private+=(--model mlp --hidden 4 --dp-sgd --noise-multiplier 12 --batch 12)
  if [ $few = yes ]; then sets features huge beyond order; else sets features "${every[@]}"; fi
  same 0 "${private[@]}" --canaries 4 --canary-kind dirac
  grep -q ' ./m.safetensors.canaries.npz$' case-base.outcome # what is compared is all there
  grep -q ' ./m.safetensors.coins.json$' case-base.outcome
  grep -q '"purpose":"4 canaries (dirac, one of two), coins HASH"' case-base.outcome
  same 0 "${private[@]}" --canary-kind mislabelled --canaries 12 --quiet
  [ $whole = yes ] || return 0
  for adjacency in zero-out replace-one; do
    for kind in dirac random in-distribution mislabelled; do
      same 0 "${private[@]}" --canaries 11 --canary-kind $kind --adjacency $adjacency --json
    done
    same 0 "${private[@]}" --canaries 3 --canary-kind clipbkd --canary-public "$dir/public.csv" --adjacency $adjacency --json
  done
}

@test "train --dp-sgd with canaries that is stopped, and goes on with another number of ranks, leaves the same for neighbouring data" {
  train
  private+=(--model mlp --hidden 4 --dp-sgd --noise-multiplier 12 --batch 24 --reserve-steps 1)
  if [ $few = yes ]; then sets features huge beyond; else sets features "${every[@]}"; fi
  clipbkd=(--canary-kind clipbkd --canary-public "$dir/public.csv" --canaries 3)
  ranks=1 # `resumed` starts the others
  export OMPI_MCA_btl=self,tcp # shared memory of MPI is a file, which the limit cuts as well
  same 0 resumed 1 2 "${private[@]}" --canary-kind dirac --canaries 4
  grep -q '^stopped with 74 ' case-base.outcome # what is compared is all there
  grep -q ' ./m.safetensors.canaries.state$' case-base.outcome || { cat case-base.outcome; false; }
  grep -q ' ./m.safetensors.checkpoint$' case-base.outcome
  [ "$(grep -c '"event":"reserve"' case-base.outcome)" -eq 3 ] || { cat case-base.outcome; false; }
  [ $few = no ] || variants=(base beyond)
  same 0 resumed 2 3 "${private[@]}" "${clipbkd[@]}" --clipping quantile
  [ $whole = yes ] || return 0
  for kind in dirac random in-distribution mislabelled; do
    same 0 resumed 2 3 "${private[@]}" --canaries 6 --canary-kind $kind --adjacency zero-out
    same 0 resumed 2 1 "${private[@]}" --canaries 6 --canary-kind $kind
  done
}

@test "train --dp-sgd of images on 2 ranks leaves the same for neighbouring data" {
  [ $whole = yes ] || skip "make check-night"
  train
  sets images "${every[@]}"
  same 0 "${private[@]}" --model cnn --hidden 4,8 --dp-sgd --noise-multiplier 12 --batch 8 --flip --views 2
}

@test "train --certify-inputs on 2 ranks leaves the same for neighbouring data" {
  [ $whole = yes ] || skip "make check-night"
  train
  sets images "${every[@]}"
  private+=(--model resnet8 --order exact --leaf 2 --certify-inputs --radius 3 --input-noise 2 --batch 8)
  # losses are of what was released: noise (docs/derivations/residual.md)
  same 0 "${private[@]}" --quiet
  same 0 "${private[@]}" --label-epsilon 1 --quiet
}

@test "an experiment with private stages on 2 ranks, and in one process, leaves the same for neighbouring data" {
  if [ $few = yes ]; then sets images label; else sets images huge label order; fi
  write_set pub.set public base
  for v in "${variants[@]}"; do XDG_DATA_HOME=$PWD/case-$v.home "$SOTTO" data import pub.set --name pub --dataset-id pub --quiet > /dev/null; done
  # record 11 is private for this seed; a label beyond the classes is refused (docs/PRIVACY.md)
  cat > run.yaml << Y
name: x
data: {set: toy, public_set: pub, classes: 3, public: 8, private: 16, heldout: 8}
pretrain: {encoder: resnet8, epochs: 1, batch: 4, dtype: f32, backend: $backend}
encoder: {evaluate: false}
head: {epochs: 1, batch: 16}
sensitivity: {pairs: 2}
protect:
  - {trainer: dp-sgd, epsilon: 0.5, delta: 1.0e-3, batch: 16, epochs: 1, lr: 1}
  - {trainer: dp-sgd, model: mlp, hidden: [4], epsilon: 0.5, delta: 1.0e-3, batch: 16, epochs: 1, lr: 1}
attack: {names: [loss]}
report: {fpr: [0.25]}
Y
  # what a run tells of its measurements is for the owner of the records (docs/PRIVACY.md), so it is told to be quiet
  ranks=1
  same 0 "$SOTTO" run ../run.yaml -o private --threads 1 --quiet
  same 0 "$SOTTO" run ../run.yaml -o private --threads 1 --quiet --worker
  [ $whole = yes ] || return 0
  ranks=2
  same 0 "$SOTTO" run ../run.yaml -o private --threads 1 --quiet
  [ "$(grep -c '"event":"re' case-base.outcome)" -ge 2 ]
}

@test "a rank that tells how many of its records were clipped is caught" {
  program=$SOTTO_PLANTED_PROGRAM
  train
  private+=(--model mlp --hidden 4 --dp-sgd --noise-multiplier 12 --batch 24 --clipping quantile --max-grad-norm 8 --quiet)
  sets features huge
  same 0 "${private[@]}" # without the defect
  export SOTTO_PLANTED=rank-counts
  run same 0 "${private[@]}"
  [ "$status" -eq 1 ]
  [[ "$output" == *"records below the norm"* ]] || { echo "$output"; false; }
}
