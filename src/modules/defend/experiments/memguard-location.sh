#!/usr/bin/env bash
# MemGuard on Location (Jia et al. 2019; their repository gives the attack accuracy of a network at six distortion budgets:
# 1 .50, .7 .52, .5 .55, .3 .62, .1 .69, 0 .73). 1,000 records each for the target, the defender's non-members, the non-members
# that are judged, and the attacker's shadow in and out; target and shadow 1024-512-256-128 by SGD. Besides: thresholds, an
# adaptive attacker, and what labels alone tell. Location must have been imported (sotto data import).
# usage: memguard-location.sh FOLDER [EPOCHS]   (SOTTO: the program; default: sotto; EPOCHS of the target: 200)
set -euo pipefail
sotto=${SOTTO:-sotto}
out=$1 epochs=${2:-200}
quiet=(--progress never)

"$sotto" data split location --parts member=1000,defence=1000,nonmember=1000,in=1000,out=1000 --seed 1 -o "$out" > /dev/null

# model NAME PART SEED: a network trained on a part
model() {
  [ -f "$out/$1.safetensors" ] || "$sotto" head --features "$out/$2-features.npy" --labels "$out/$2-labels.npy" --hidden 1024,512,256,128 \
    --trainer sgd --lr 0.01 --epochs "$epochs" --batch 64 --seed "$3" "${quiet[@]}" -o "$out/$1.safetensors"
}
# ask NAME PART...: its posteriors
ask() {
  local name=$1 part
  shift
  for part; do
    printf '%-10s' "$part"
    "$sotto" predict --head "$out/$name.safetensors" --features "$out/$part-features.npy" --labels "$out/$part-labels.npy" -o "$out/$part.npy" | grep accuracy
  done
}
model target member 1
model shadow in 2
ask target member nonmember defence
ask shadow in out

judge=(--input "$out/member.npy:1" --input "$out/nonmember.npy:0" --labels "$out/member-labels.npy" --labels "$out/nonmember-labels.npy"
  --attacker "$out/in.npy:1" --attacker "$out/out.npy:0" --adaptive --seed 1 "${quiet[@]}")
for budget in 1 0.7 0.5 0.3 0.1 0; do
  [ -f "$out/memguard-$budget/said" ] || {
    "$sotto" defend memguard --known "$out/member.npy:1" --known "$out/defence.npy:0" --budget $budget "${judge[@]}" -o "$out/memguard-$budget" > "$out/said"
    mv "$out/said" "$out/memguard-$budget/said"
  }
  cat "$out/memguard-$budget/said"
done
"$sotto" defend uniform-confidence "${judge[@]}" -o "$out/uniform"
