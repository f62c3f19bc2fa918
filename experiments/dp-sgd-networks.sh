#!/usr/bin/env bash
# Whole networks by DP-SGD from raw pixels: no pre-training, no made features. delta 1e-5, zero-out adjacency (accounted as add-remove, as published), Poisson samples,
# Gaussian noise; the official training part is private, the test part measures (and served to try out the settings).
#   cifar10        tanh-cnn (Papernot et al. 2021, Tramer & Boneh 2021: .592 at epsilon 3), epsilon 3: 26 minutes of CPU time.
#                  WIDTHS=16,32,64,128, half the published ones, takes 9
#   fashion-mnist  tanh-small, epsilon 3 (published: .861); mnist likewise (.981)
#   residual       the DP-SGD baseline of the residual-perturbation paper: resnet8 with group norm, noise multiplier 1.1, clipping
#                  norm 1.0, batch 128. $RECORDS (12500) records of $SET (fashion-mnist) and $EPOCHS (30; paper: 100 with rates
#                  divided by 4 every 20; here by 10 after a half and three quarters), first rate $RATE (0.1, the paper's)
# Expected (seed 1): fashion-mnist .862, cifar10 .580 (half the widths .562); residual with EPOCHS=5 at epsilon 1.10: .476, with RATE=0.5 .620.
# usage: experiments/dp-sgd-networks.sh FOLDER [cifar10|fashion-mnist|mnist|residual]...
#   SOTTO (sotto), THREADS (1), SEED (1). A killed run goes on from its checkpoint, and charges its last steps again.
set -euo pipefail
sotto=${SOTTO:-sotto} threads=${THREADS:-1} seed=${SEED:-1}
out=$1
shift
[ $# -gt 0 ] || set -- fashion-mnist cifar10 residual
mkdir -p "$out"

# network SET NAME OPTIONS...: trains $out/NAME-SEED.safetensors once. The ledger of a public set is this experiment's own: it is no
# release; a set that was imported by hand has one ledger.
network() {
  local set=$1 name=$2-$seed charged=() TIMEFORMAT='%U s of processor time'
  shift 2
  [ "$("$sotto" data info "$set" --json | sed -n 's/^  "dataset_id": "\(.*\)",/\1/p')" != "$set" ] || charged=(--ledger "$out/$name.jsonl")
  [ -e "$out/$name.safetensors" ] || { time "$sotto" train --dp-sgd --adjacency zero-out --delta 1e-5 --optimizer sgd "$@" --seed "$seed" --threads "$threads" \
    "${charged[@]}" -o "$out/$name.safetensors" > "$out/$name.txt"; } 2> "$out/$name.log" ||
    { cat "$out/$name.log" >&2; exit 1; }
  echo "$name: $(head -n 1 "$out/$name.txt" | sed 's/^[^:]*: //'); $(grep 'processor time' "$out/$name.log")"
}

# accuracy NAME LABELS.npy OPTIONS...: on records that it has not seen
accuracy() {
  local name=$1-$seed labels=$2
  shift 2
  echo "$name: $("$sotto" predict --model "$out/$name.safetensors" "$@" --labels "$labels" --threads "$threads" --quiet)"
}

# labels SET: of the test part, which 'embed' writes beside features that are not needed
labels() {
  [ -e "$out/$1-labels.npy" ] || "$sotto" embed --encoder scattering --grid 1 --data "$1" --split test --threads "$threads" --quiet \
    --labels-out "$out/$1-labels.npy" -o "$out/ignored.npy" > /dev/null
  rm -f "$out/ignored.npy"
  echo "$out/$1-labels.npy"
}

for what; do
  case $what in
    cifar10)
      network cifar10 cifar10 --data cifar10 --split train --model tanh-cnn --hidden "${WIDTHS:-32,64,128,128}" --epsilon 3 --batch 1024 --epochs 30 --lr 1 \
        --momentum 0.9 --max-grad-norm 0.1 --ema 0.99
      accuracy cifar10 "$(labels cifar10)" --data cifar10 --split test ;;
    fashion-mnist | mnist)
      network "$what" "$what" --data "$what" --split train --model tanh-small --epsilon 3 --batch 2048 --epochs 40 --lr 4 \
        --momentum 0.9 --max-grad-norm 0.1 --ema 0.99
      accuracy "$what" "$(labels "$what")" --data "$what" --split test ;;
    residual)
      set=${SET:-fashion-mnist} parts=$out/residual-${SET:-fashion-mnist}
      [ -e "$parts/test-rows.npy" ] || "$sotto" data split "$set" --parts "member=${RECORDS:-12500},test=10000" --seed 1 -o "$parts" > /dev/null
      network "$set" "residual-$set" --data "$set" --indices "$parts/member-rows.npy" --classes 10 --model resnet8 --norm group \
        --noise-multiplier 1.1 --max-grad-norm 1 --batch 128 --epochs "${EPOCHS:-30}" --lr "${RATE:-0.1}" --schedule step
      accuracy "residual-$set" "$parts/test-labels.npy" --features "$parts/test-features.npy" ;;
    *) echo "dp-sgd-networks.sh: unknown experiment '$what'" >&2; exit 64 ;;
  esac
done
