#!/usr/bin/env bash
# Membership in the fine-tuning set of a network: shadows that start from the target's encoder, as it did (sotto attack --from).
# Fashion-MNIST: SimCLR on 2,000 public images; targets are fine-tuned on 500 others and attacked with 500 more as non-members.
#   last-block  'train --from --freeze 3', Adam, 20 epochs      all  all weights but batch norm (--freeze norm)
#   private     last-block by DP-SGD, epsilon 3 (zero-out), delta 1e-5
#   scratch     the same records, a network of its own (cnn), for comparison
#   control     last-block, 500 fresh records in the members' place
# Attacks: loss and correctness (no shadow), LiRA on $SHADOWS (8) shadows of halves of the records, Shokri on as many of the attacker's 1,000.
# Prints a line for each target and attack: accuracies, AUC, TPR at FPR 1 %, with 95 % intervals. Results: notes/results.md.
# usage: experiments/fine-tuned-shadows.sh FOLDER [last-block|all|private|scratch|control]...
#   SOTTO (sotto), THREADS (1), SEED (1), SHADOWS (8). What is there is kept: a killed run goes on.
set -euo pipefail
sotto=${SOTTO:-sotto} threads=${THREADS:-1} seed=${SEED:-1} shadows=${SHADOWS:-8} set=fashion-mnist
out=$1
shift
[ $# -gt 0 ] || set -- last-block all private scratch control
mkdir -p "$out"
parts=$out/parts encoder=$out/encoder.safetensors public=$out/public.npy
rows() { echo "$parts/$1-rows.npy"; }
[ -e "$(rows control)" ] || "$sotto" data split $set --parts public=2000,member=500,nonmember=500,attacker=1000,control=500 --seed 1 -o "$parts" > /dev/null
[ -e "$encoder.provenance.json" ] || "$sotto" pretrain --data $set --indices "$(rows public)" --method simclr --encoder keras-simclr --epochs 6 --batch 128 --seed 1 \
  --threads "$threads" --quiet -o "$encoder" > /dev/null
[ -e "$public" ] || "$sotto" embed --encoder "$encoder" --data $set --indices "$(rows public)" --threads "$threads" --quiet --labels-out "$out/public-labels.npy" \
  -o "$public" > /dev/null

# train WAY
train() {
  local from=(--from "$encoder" --standardise "$public") how=(--optimizer adam --lr 1e-3 --batch 50 --epochs 20)
  case $1 in
    last-block | control) how+=("${from[@]}" --freeze 3) ;;
    all) how+=("${from[@]}" --freeze norm) ;;
    private) how=("${from[@]}" --freeze 3 --warm-up 20 --dp-sgd --classes 10 --epsilon 3 --delta 1e-5 --adjacency zero-out --max-grad-norm 0.1 --optimizer sgd --momentum 0.9
      --lr 4 --batch 125 --epochs 30 --ledger "$out/private.jsonl") ;;
    scratch) how+=(--model cnn) ;;
    *) echo "fine-tuned-shadows.sh: unknown target '$1'" >&2; exit 64 ;;
  esac
  "$sotto" train --data $set --indices "$(rows member)" "${how[@]}" --seed "$seed" --threads "$threads" --quiet -o "$out/$1-$seed.safetensors" > /dev/null
}

areas() { # of each attack: area, TPR at FPR 1 %, both with 95 % intervals
  sed 's/.*"attacks":\[//; s/{"name":"/\n&/g' | grep '^{"name":"[a-z-]*","title' |
    sed -E 's/^\{"name":"([a-z-]*)".*"auc":(\{"estimate":[0-9.]*,"lower":[0-9.]*,"upper":[0-9.]*).*"tpr_at_fpr":\{[^{]*"0.01":(\{"estimate":[0-9.]*,"lower":[0-9.]*,"upper":[0-9.]*).*/\1 auc \2 tpr at .01 \3/' |
    tr -d '"{'
}

# attack WAY NAME OPTIONS...
attack() {
  local to=$out/$1-$seed-$2 way=$1 name=$2 members=member
  shift 2
  [ "$way" != control ] || members=control
  [ -e "$to/result.json" ] || "$sotto" attack "$name" --target "$out/$way-$seed.safetensors" --member-features "$parts/$members-features.npy" \
    --member-labels "$parts/$members-labels.npy" --nonmember-features "$parts/nonmember-features.npy" --nonmember-labels "$parts/nonmember-labels.npy" \
    --attacker-features "$parts/attacker-features.npy" --attacker-labels "$parts/attacker-labels.npy" --shadows "$shadows" --cache "$out/shadows" \
    --seed "$seed" --threads "$threads" --quiet "$@" -o "$to" > /dev/null
  areas < "$to/result.json" | sed "s/^/$way $seed $name: /"
}

for way; do
  [ -e "$out/$way-$seed.safetensors" ] || train "$way"
  from=(--from "$encoder" --standardise "$public")
  [ "$way" != scratch ] || from=()
  attack "$way" lira "${from[@]}"
  [ "$way" = control ] || attack "$way" shokri "${from[@]}"
  grep -o '"accuracy":{"member":{[^}]*},"nonmember":{[^}]*}' "$out/$way-$seed-lira/result.json" | tr -d '"'
done
