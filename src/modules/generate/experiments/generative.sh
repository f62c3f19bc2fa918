#!/usr/bin/env bash
# What generative models tell of their training records: 1,000 members, 1,000 others and 1,000 for a control, Fashion-MNIST.
#   vae    4,500 steps (300 passes): reconstruction, elbo; reconstruction of the control in the members' place
#   dcgan  6,000 steps: logan; logan of the control; 20,000 samples, raw and calibrated by a generator of 3,000 steps on the control's
#          records (GAN-Leaks, Monte Carlo)
#   blackbox  of that dcgan: logan-blackbox, its own GAN of 3,000 steps on samples; and a discriminator of 1,500 steps that knows 250
#          records of each side and is tried on the other 750
#   searches  of that vae: gan-leaks-white on all records, gan-leaks-partial (20,000 images a record) on 100 of each side
#   wgan-gp  500 steps (2,500 of the critic): logan; logan of the control
# Prints one line for each seed and attack: AUC and TPR at FPR 1 %, each with its 95 % interval. Results: notes/results.md. Needs python3 with numpy for the rows.
# usage: experiments/generative.sh FOLDER [vae|dcgan|blackbox|searches|wgan-gp]...
#   SOTTO (sotto), THREADS (1), SEEDS (1 2 3). Finished models are kept: a killed experiment goes on.
set -euo pipefail
sotto=${SOTTO:-sotto} threads=${THREADS:-1} seeds=${SEEDS:-1 2 3}
out=$1
shift
[ $# -gt 0 ] || set -- vae dcgan
mkdir -p "$out"
python3 - "$out" << 'END'
import sys
import numpy as np
rows = np.random.default_rng(3).permutation(60000)
for i, name in enumerate(("members", "others", "control")):
    chosen = rows[1000 * i:1000 * (i + 1)]
    np.save(f"{sys.argv[1]}/{name}.npy", chosen)
    np.save(f"{sys.argv[1]}/known-{name}.npy", chosen[:250])
    np.save(f"{sys.argv[1]}/rest-{name}.npy", chosen[250:])
    np.save(f"{sys.argv[1]}/few-{name}.npy", chosen[:100])
END

# train FILE OPTIONS...
train() {
  local file=$1
  shift
  [ -e "$file" ] || "$sotto" generate train --data fashion-mnist --threads "$threads" --quiet "$@" -o "$file"
}
areas() { # of each attack: area, TPR at FPR 1 %, both with 95 % intervals
  sed 's/.*"attacks":\[//; s/{"name":"/\n&/g' | grep '^{"name":"[a-z-]*","title' |
    sed -E 's/^\{"name":"([a-z-]*)".*"auc":(\{"estimate":[0-9.]*,"lower":[0-9.]*,"upper":[0-9.]*).*"tpr_at_fpr":\{[^{]*"0.01":(\{"estimate":[0-9.]*,"lower":[0-9.]*,"upper":[0-9.]*).*/\1 auc \2 tpr at .01 \3/' |
    tr -d '"{' | cut -c 1-200 | sed "s/^/$1: /"
}
# attack LABEL ATTACK MODEL MEMBERS OTHERS OPTIONS...
attack() {
  local label=$1
  "$sotto" attack "$2" --generator "$3" --data fashion-mnist --member-indices "$out/$4.npy" --nonmember-indices "$out/$5.npy" \
    --threads "$threads" --quiet --json "${@:6}" | areas "$label"
}
records() { "$sotto" generate records --generator "$1" --data fashion-mnist --indices "$out/$2.npy" --quiet -o "$out/$2-records.npy"; }
samples() { "$sotto" generate sample --generator "$1" --count 20000 --seed "$2" --threads "$threads" --quiet -o "$3"; }

for seed in $seeds; do
  for model in "$@"; do
    file=$out/$model-$seed.safetensors
    if [ "$model" = vae ]; then
      train "$file" --indices "$out/members.npy" --model vae --steps 4500 --seed "$seed"
      attack "vae $seed" reconstruction "$file" members others
      attack "vae $seed" elbo "$file" members others
      attack "vae $seed control" reconstruction "$file" control others
    elif [ "$model" = wgan-gp ]; then
      train "$file" --indices "$out/members.npy" --model wgan-gp --steps 500 --seed "$seed"
      attack "wgan-gp $seed" logan "$file" members others
      attack "wgan-gp $seed control" logan "$file" control others
    elif [ "$model" = searches ]; then
      file=$out/vae-$seed.safetensors
      train "$file" --indices "$out/members.npy" --model vae --steps 4500 --seed "$seed"
      attack "vae $seed" gan-leaks-white "$file" members others
      attack "vae $seed control" gan-leaks-white "$file" control others
      attack "vae $seed, 100 of each" gan-leaks-partial "$file" few-members few-others
    elif [ "$model" = blackbox ]; then
      file=$out/dcgan-$seed.safetensors
      train "$file" --indices "$out/members.npy" --model dcgan --steps 6000 --seed "$seed"
      attack "dcgan $seed samples" logan-blackbox "$file" members others --imitation-steps 3000
      attack "dcgan $seed samples, known records" logan-blackbox "$file" rest-members rest-others --imitation-steps 1500 \
        --imitation-samples 5000 --known-member-indices "$out/known-members.npy" --known-nonmember-indices "$out/known-others.npy"
    else
      train "$file" --indices "$out/members.npy" --model dcgan --steps 6000 --seed "$seed"
      train "$out/reference-$seed.safetensors" --indices "$out/control.npy" --model dcgan --steps 3000 --seed "$seed"
      attack "dcgan $seed" logan "$file" members others
      attack "dcgan $seed control" logan "$file" control others
      samples "$file" "$seed" "$out/G.npy"
      samples "$out/reference-$seed.safetensors" "$seed" "$out/R.npy"
      records "$file" members
      records "$file" others
      "$sotto" audit --member-features "$out/members-records.npy" --nonmember-features "$out/others-records.npy" \
        --generated "$out/G.npy" --reference-generated "$out/R.npy" --threads "$threads" --quiet --json | areas "dcgan $seed samples"
    fi
  done
done
