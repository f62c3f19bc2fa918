#!/usr/bin/env bash
# What a white-box attacker gains from known members, and from layers below the last one.
#   location  an MLP 446-128-30 on 1,200 records: 600 members and 600 others are known, 600 and 600 are judged; 2,400 of the attacker's
#   fashion   a network of two convolutions and two dense layers on 1,000 images of Fashion-MNIST: 500 and 500 known, 500 and 500 judged
# For each seed: white-box with known members (three layers, one layer), white-box with shadows, loss; AUC and its 95 % interval.
# Results: notes/results.md. Needs python3 with numpy.
# usage: experiments/white-box.sh FOLDER [location|fashion]...
#   SOTTO (sotto), THREADS (1), SEEDS (1 2 3)
set -euo pipefail
sotto=${SOTTO:-sotto} threads=${THREADS:-1} seeds=${SEEDS:-1 2 3}
out=$1
shift
[ $# -gt 0 ] || set -- location fashion

areas() {
  python3 -c 'import json, sys
for a in json.load(sys.stdin)["attacks"][:int(sys.argv[2])]:
    print(sys.argv[1], a["name"], *("%.3f" % a["auc"][k] for k in ("estimate", "lower", "upper")))' "$1" "$2"
}
# pair OPTION PART: features and labels of a part
pair() { printf '%s\n' "--$1-features" "$d/$2-features.npy" "--$1-labels" "$d/$2-labels.npy"; }
attack() {
  mapfile -t judged < <(pair member member; pair nonmember nonmember)
  "$sotto" attack white-box --target "$d/target.safetensors" "${judged[@]}" --threads "$threads" --seed "$seed" --quiet --json "$@" 2> /dev/null
}

for set in "$@"; do
  for seed in $seeds; do
    d=$out/$set-$seed
    if [ "$set" = location ]; then name=location n=600 own=2400; else name=fashion-mnist n=500 own=2000; fi
    "$sotto" data split "$name" --seed "$seed" --parts "member=$n,known-member=$n,nonmember=$n,known-nonmember=$n,attacker=$own" -o "$d" --quiet
    python3 - "$d" << 'END'
import sys
import numpy as np
for kind in ("features", "labels"):
    np.save(f"{sys.argv[1]}/{kind}.npy", np.concatenate([np.load(f"{sys.argv[1]}/{part}-{kind}.npy") for part in ("member", "known-member")]))
END
    if [ "$set" = location ]; then
      "$sotto" head --features "$d/features.npy" --labels "$d/labels.npy" --hidden 128 --epochs 50 --batch 50 --lr 0.001 --seed "$seed" --quiet -o "$d/target.safetensors"
    else
      "$sotto" train --data "$d/features.npy:$d/labels.npy" --image 1,28,28 --model cnn --hidden 16,32,64 --epochs 30 --batch 50 --lr 0.002 --dtype f32 --backend dnnl \
        --seed "$seed" --threads "$threads" --quiet -o "$d/target.safetensors"
    fi
    mapfile -t known < <(pair known-member known-member; pair known-nonmember known-nonmember)
    mapfile -t attacker < <(pair attacker attacker)
    attack "${known[@]}" | areas "$set $seed known, three layers:" 1
    attack "${known[@]}" --layers 1 | areas "$set $seed known, one layer:" 1
    attack "${attacker[@]}" | areas "$set $seed shadows, three layers:" 2
  done
done
