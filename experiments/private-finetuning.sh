#!/usr/bin/env bash
# Private fine-tuning on CIFAR-10 of an encoder that was pre-trained on a public half: is it better than private training from scratch?
# 25,000 public images (SimCLR; their labels choose the encoder), 25,000 private ones, 10,000 that measure. Ways:
#   linear, mlp         heads by DP-SGD on the encoder's embeddings, standardised by public ones
#   frozen              'train --from --freeze all --standardise': the same as linear, as one network
#   last-block, all     'train --from --standardise': the last block, all weights, after a warm-up of the last layer
#   scratch             tanh-cnn (16,32,64,128) from raw pixels
#   scattering, joined  linear heads on wavelet features, and on them and the embeddings together
#   blocks              a linear head on what the encoder's last three blocks make of image and mirror image ('embed --blocks')
#   blocks-joined       the same beside wavelet features, at twice their scale
# Noise is calibrated under zero-out adjacency, as figures are published; epsilon under replace-one is read from the certificate. epsilon inf:
# the same network or head trained without privacy: the ceiling. delta 1e-5. Settings: private heads on the public half, plain heads on test images, the last block once on the private half.
# usage: experiments/private-finetuning.sh FOLDER
#   EPSILONS ("inf 3 1 8"), SEEDS ("1 2 3"), WAYS (all of the above), SOTTO (sotto), THREADS (1)
#   ENCODERS ("keras-simclr:90 resnet8:55": names and epochs that take about the same time; the one with the best public probe is taken)
# Finished lines of FOLDER/results.csv are not run again, and a killed run goes on from its checkpoint. A set that was imported by hand has one
# ledger, which every run is charged to: no single run's epsilon is the total.
set -euo pipefail
sotto=${SOTTO:-sotto} epsilons=${EPSILONS:-inf 3 1 8} seeds=${SEEDS:-1 2 3} threads=${THREADS:-1} set=cifar10
ways=${WAYS:-linear mlp scattering joined blocks blocks-joined frozen last-block scratch all} encoders=${ENCODERS:-keras-simclr:90 resnet8:55}
out=$1
mkdir -p "$out"
touch "$out/results.csv"
rows() { echo "$out/parts/$1-rows.npy"; }
[ -e "$(rows test)" ] || "$sotto" data split $set --parts public=25000,private=25000,test=10000 --seed 1 -o "$out/parts" > /dev/null
rm -f "$out"/parts/*-features.npy*

# pretrain NAME EPOCHS: its finished checkpoint, if there is one, only writes the file again
pretrain() {
  [ -e "$out/$1.safetensors.provenance.json" ] || "$sotto" pretrain --data $set --indices "$(rows public)" --method simclr --loss simclr \
    --augmentation simclr --temperature 0.5 --min-area 0.2 --brightness 0.4 --jitter 0.1 --batch 256 --schedule cosine --seed 1 --encoder "$1" \
    --epochs "$2" --threads "$threads" --quiet --checkpoint "$out/$1.checkpoint" -o "$out/$1.safetensors" > /dev/null
}

# probe NAME: accuracy of a linear head on public images, a part of which teaches and the rest is asked
probe() {
  [ -e "$out/$1.probe" ] || "$sotto" embed --encoder "$out/$1.safetensors" --data $set --indices "$(rows public)" --evaluate --threads "$threads" --json --quiet \
    > "$out/$1.probe"
  sed 's/.*"linear_accuracy": \([0-9.]*\).*/\1/' "$out/$1.probe"
}

best=0
for choice in $encoders; do
  name=${choice%:*}
  pretrain "$name" "${choice#*:}"
  found=$(probe "$name")
  echo "encoder $name: public linear probe $found" >&2
  if awk "BEGIN { exit !($found > $best) }"; then best=$found encoder=$name; fi
done
file=$out/$encoder.safetensors blocks=3
[ "$encoder" = keras-simclr ] || blocks=2 # resnet8

# embed KIND PART OPTIONS...: $out/KIND-PART.npy, with labels
embed() {
  local x=$out/$1-$2
  [ -e "$x.npy" ] || "$sotto" embed --data $set --indices "$(rows "$2")" "${@:3}" --threads "$threads" --quiet --labels-out "$out/$2-labels.npy" -o "$x.npy" > /dev/null
}
embed raw-simclr public --encoder "$file"
embed raw-scattering public --encoder scattering --groups 0 --mirror
inner="--encoder $file --blocks 3 --grid 3 --mirror"
# shellcheck disable=SC2086
embed raw-blocks public $inner
for part in private test; do
  embed simclr $part --encoder "$file" --standardise "$out/raw-simclr-public.npy"
  embed scattering $part --encoder scattering --groups 0 --mirror --standardise "$out/raw-scattering-public.npy"
  embed joined $part --encoder "$file" --standardise "$out/raw-simclr-public.npy" --join "$out/scattering-$part.npy"
  # shellcheck disable=SC2086
  embed blocks $part $inner --standardise "$out/raw-blocks-public.npy"
  # shellcheck disable=SC2086
  embed blocks-joined $part $inner --standardise "$out/raw-blocks-public.npy" --join "$out/scattering-$part.npy" --weight 2
done

from="--from $file --standardise $out/raw-simclr-public.npy"

# head FEATURES EPSILON SEED OPTIONS PRIVATE PLAIN: a head of these options by DP-SGD, or by Adam without privacy
head() {
  local x=$out/$1 options private
  read -ra options <<< "$4"
  read -ra private <<< "--trainer dp-sgd --epsilon $2 --delta 1e-5 --adjacency zero-out --max-grad-norm 0.1 --momentum 0.9 --batch 4096 --epochs 40 $5"
  [ "$2" != inf ] || read -ra private <<< "--trainer adam --batch 128 $6"
  "$sotto" head --features "$x-private.npy" --labels "$out/private-labels.npy" --classes 10 "${options[@]}" "${private[@]}" --seed "$3" --threads "$threads" \
    --quiet -o "$model" > /dev/null &&
    "$sotto" predict --head "$model" --features "$x-test.npy" --labels "$out/test-labels.npy" --json --quiet > "$model.json"
}

# network EPSILON SEED OPTIONS PRIVATE PLAIN: a whole network, by DP-SGD or by Adam
network() {
  local options private
  read -ra options <<< "$3"
  read -ra private <<< "--dp-sgd --epsilon $1 --delta 1e-5 --adjacency zero-out --max-grad-norm 0.1 --optimizer sgd --momentum 0.9 $4"
  [ "$1" != inf ] || read -ra private <<< "--schedule cosine --flip --crop 4 $5"
  "$sotto" train --data $set --indices "$(rows private)" "${options[@]}" "${private[@]}" --seed "$2" --threads "$threads" --quiet -o "$model" > /dev/null &&
    "$sotto" predict --model "$model" --data $set --indices "$(rows test)" --labels "$out/test-labels.npy" --threads "$threads" --json --quiet > "$model.json"
}

# run WAY EPSILON SEED
run() {
  case $1 in
    linear) head simclr "$2" "$3" "" "--lr 16" "--lr 1e-3 --epochs 40" ;;
    mlp) head simclr "$2" "$3" "--hidden 128" "--lr 16" "--lr 1e-3 --epochs 20" ;;
    scattering) head scattering "$2" "$3" "" "--lr 6" "--lr 1e-4 --epochs 20" ;;
    joined) head joined "$2" "$3" "" "--lr 6" "--lr 1e-4 --epochs 20" ;;
    blocks) head blocks "$2" "$3" "" "--lr 6" "--lr 1e-4 --epochs 20" ;;
    blocks-joined) head blocks-joined "$2" "$3" "" "--lr 3" "--lr 1e-4 --epochs 10" ;;
    frozen) network "$2" "$3" "$from --freeze all" "--batch 4096 --epochs 40 --lr 16" "--epochs 20 --lr 1e-3" ;;
    last-block) network "$2" "$3" "$from --freeze $blocks --warm-up 50" "--batch 2048 --epochs 30 --lr 4 --ema 0.99" "--epochs 20 --lr 1e-3" ;;
    all) network "$2" "$3" "$from --freeze norm --warm-up 50" "--batch 2048 --epochs 30 --lr 4 --ema 0.99" "--epochs 20 --lr 1e-3" ;;
    scratch) network "$2" "$3" "--model tanh-cnn --hidden 16,32,64,128" "--batch 1024 --epochs 30 --lr 1 --ema 0.99" "--epochs 20 --lr 1e-3" ;;
    *) echo "private-finetuning.sh: unknown way '$1'" >&2; exit 64 ;;
  esac
}

# member FILE NAME: the last number of that name in a JSON file
member() { grep -o "\"$2\": [0-9.e-]*" "$1" | tail -n 1 | grep -o '[0-9.e-]*$'; }

# measure WAY EPSILON SEED: one line of results.csv, unless it is there: way, epsilon, seed, accuracy, epsilon under replace-one, CPU seconds
measure() {
  local model=$out/$1-$2-$3.safetensors other=- seconds TIMEFORMAT=%U
  ! grep -q "^$1,$2,$3," "$out/results.csv" || return 0
  seconds=$({ time run "$@" 2> "$out/log"; } 2>&1) || { cat "$out/log" >&2; exit 1; }
  [ "$2" = inf ] || other=$(tr -d '\n' < "$model.certificate.json" | sed 's/.*"other": {\([^}]*}\).*/\1/' | grep -o '"upper": [0-9.e-]*' | grep -o '[0-9.e-]*$')
  echo "$1,$2,$3,$(member "$model.json" estimate),$other,$seconds" | tee -a "$out/results.csv" >&2
}

for seed in $seeds; do
  for epsilon in $epsilons; do
    for way in $ways; do measure "$way" "$epsilon" "$seed"; done
  done
done

# A row for each way, a column for each epsilon: mean and half a 95 % t-interval over the seeds (2 to 10); then the claim.
awk -F, 'BEGIN { split("0 12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262", t, " ") }
  { if (!($1 in cpu)) row[++rows] = $1; if (!($2 in seen)) { seen[$2] = $5; column[++columns] = $2 }
    c = $1 "," $2; n[c]++; s[c] += $4; q[c] += $4 * $4; cpu[$1] += $6; all[$1]++ }
  function mean(c) { return s[c] / n[c] }
  function half(c, v) { if (n[c] < 2 || n[c] > 10) return 0; v = (q[c] - n[c] * mean(c) ^ 2) / (n[c] - 1); return t[n[c]] * sqrt((v > 0 ? v : 0) / n[c]) }
  END { printf "%-12s", "way"
    for (j = 1; j <= columns; j++) printf "  %-22s", column[j] == "inf" ? "without privacy" : "epsilon " column[j] " (r-o " substr(seen[column[j]], 1, 5) ")"
    print "CPU s a run"
    for (i = 1; i <= rows; i++) { printf "%-12s", row[i]
      for (j = 1; j <= columns; j++) { c = row[i] "," column[j]; if (!n[c]) printf "  %-22s", "-"; else printf "  %.4f +- %-12.4f", mean(c), half(c) }
      printf "%.0f\n", cpu[row[i]] / all[row[i]] }
    holds = rows > 0
    for (j = 1; j <= columns; j++) { e = column[j]; own = "scratch," e; if (e == "inf" || !n[own]) continue
      top = ""; for (i = 1; i <= rows; i++) { c = row[i] "," e; if (row[i] ~ /^(linear|mlp|blocks|frozen|last-block|all)$/ && n[c] && (top == "" || mean(c) > mean(top))) top = c }
      if (top == "") continue
      above = mean(top) - half(top) > mean(own) + half(own); holds = holds && above
      printf "epsilon %s: best with pre-training %s %.4f, from scratch %.4f: %s\n", e, substr(top, 1, index(top, ",") - 1), mean(top), mean(own), above ? "above" : "not above" }
    print "public pre-training beats private training from scratch at every epsilon: " (holds ? "holds" : "does not hold") }' "$out/results.csv"
