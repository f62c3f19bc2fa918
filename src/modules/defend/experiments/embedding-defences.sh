#!/usr/bin/env bash
# Defences on embeddings against attribute inference: an encoder that was trained without labels on two-attribute pictures, the
# defender's, the attacker's and the judged embeddings of different records; AttriGuard at several budgets and Olympus, each
# against an attacker who does not expect it and one who trains on defended rows. Utility: a linear classifier of the task,
# trained on what the defence makes of the defender's rows. Default data are synthetic faces; any set with an attribute will do.
# usage: embedding-defences.sh FOLDER [SET [EPOCHS]]   (SOTTO: the program; default: sotto. ENCODER: one that is there,
# instead of training one; THREADS: 2)
set -euo pipefail
sotto=${SOTTO:-sotto}
out=$1 set=${2:-synthetic-faces} epochs=${3:-10}
quiet=(--progress never --threads "${THREADS:-2}")

"$sotto" data split "$set" --parts encoder=4000,known=1000,attacker=1000,judged=1000 --seed 1 -o "$out" > /dev/null
[ -z "${ENCODER-}" ] || cp "$ENCODER" "$out/encoder.safetensors"
[ -f "$out/encoder.safetensors" ] ||
  "$sotto" pretrain --data "$set" --indices "$out/encoder-rows.npy" --epochs "$epochs" --seed 1 "${quiet[@]}" -o "$out/encoder.safetensors"
for part in known attacker judged; do
  [ -f "$out/$part.npy" ] ||
    "$sotto" embed --encoder "$out/encoder.safetensors" --data "$set" --indices "$out/$part-rows.npy" "${quiet[@]}" -o "$out/$part.npy"
done

# defend NAME OPTIONS...: one defence, and what is said about it
defend() {
  local name=$1
  shift
  [ -f "$out/$name.said" ] || {
    "$sotto" defend "$@" --input "$out/judged.npy:$out/judged-attribute.npy" --labels "$out/judged-labels.npy" \
      --known "$out/known.npy:$out/known-attribute.npy" --known-labels "$out/known-labels.npy" \
      --attacker "$out/attacker.npy:$out/attacker-attribute.npy" --adaptive --seed 1 "${quiet[@]}" -o "$out/$name.npy" > "$out/said"
    mv "$out/said" "$out/$name.said"
  }
  cat "$out/$name.said"
}
for alpha in 0.2 0.5 0.8; do
  defend olympus-$alpha olympus --set alpha=$alpha
done
for budget in 0.1 0.5; do
  defend attriguard-$budget attriguard --budget $budget
done
