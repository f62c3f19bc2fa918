#!/usr/bin/env bash
# What single layers of a network remember: stolen-memories of the last layer and of the last three, and a control without members.
# 300 members, 300 others, 900 records of the attacker, 300 for a control, Fashion-MNIST; cnn of three convolutions, 40 epochs.
# Prints one line for each seed and attack: AUC, its 95 % interval; FOLDER/SEED-layers holds the page with the explained records.
# Results: notes/results.md. usage: experiments/stolen-memories.sh FOLDER      SOTTO (sotto), THREADS (1), SEEDS (1 2 3)
set -euo pipefail
sotto=${SOTTO:-sotto} threads=${THREADS:-1} out=$1
mkdir -p "$out"
for seed in ${SEEDS:-1 2 3}; do
  d=$out/data-$seed
  [ -e "$d" ] || "$sotto" data split fashion-mnist --parts member=300,nonmember=300,attacker=900,control=300 --seed "$seed" -o "$d" --quiet > /dev/null
  model=$out/model-$seed.safetensors
  [ -e "$model" ] || "$sotto" train --data "$d/member-features.npy:$d/member-labels.npy" --image 1,28,28 --model cnn --hidden 8,16,32 --epochs 40 --batch 20 \
    --lr 2e-3 --dtype f32 --backend dnnl --seed "$seed" --threads "$threads" --quiet -o "$model" > /dev/null
  # attack LABEL NAME MEMBERS OPTIONS...
  attack() {
    "$sotto" attack "$2" --target "$model" --member-features "$d/$3-features.npy" --member-labels "$d/$3-labels.npy" \
      --nonmember-features "$d/nonmember-features.npy" --nonmember-labels "$d/nonmember-labels.npy" --attacker-features "$d/attacker-features.npy" \
      --attacker-labels "$d/attacker-labels.npy" --threads "$threads" --seed "$seed" --quiet --json "${@:4}" |
      grep -o '"name":"[a-z-]*","title\|,"auc":{"estimate":[0-9.]*,"lower":[0-9.]*,"upper":[0-9.]*' | sed 's|^,||' | tr -d '"{' | sed "s/^/$seed $1 /"
  }
  attack last stolen-memories member
  attack layers stolen-memories-layers member --explain 5 -o "$out/$seed-layers"
  attack control stolen-memories-layers control
done
