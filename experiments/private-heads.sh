#!/usr/bin/env bash
# Linear heads trained privately on features that no private record touched: seven ways, two kinds of features, at equal epsilon and
# equal adjacency (replace-one: DP-SGD is calibrated to it, the others are by their proofs; nothing is converted afterwards). The pool
# of a set is split by seed into a public, a private and a test part. Features: scattering (nothing trained) and SimCLR, pre-trained on
# the public part. The way 'anchor' stands apart: DP-SGD under add-remove, as figures are published, on scattering features of image and
# mirror image at every place, standardised by 2,000 public images. RUNS runs, each with noise of its own; 95 % t-intervals over
# them. Settings stand in experiments/private-heads.yaml; they were tried out on test parts, which no epsilon covers.
# usage: experiments/private-heads.sh FOLDER [fashion-mnist|mnist|cifar10]...
#   EPSILONS ("1 2 3 4 8"), RUNS (3), FEATURES ("scattering simclr"), SOTTO (sotto), THREADS (1)
#   METHODS ("anchor dp-sgd dp-sgd-logistic convex functional functional-linear covariance taylor")
# Finished lines of FOLDER/results.csv are not run again: a killed run goes on.
set -euo pipefail
sotto=${SOTTO:-sotto} epsilons=${EPSILONS:-1 2 3 4 8} runs=${RUNS:-3} threads=${THREADS:-1} delta=1e-5
methods=${METHODS:-anchor dp-sgd dp-sgd-logistic convex functional functional-linear covariance taylor}
kinds=${FEATURES:-scattering simclr}
settings=$(dirname "$0")/private-heads.yaml
out=$1
shift
[ $# -gt 0 ] || set -- fashion-mnist
mkdir -p "$out"
touch "$out/results.csv"

# setting SET KEY: a row of the settings file, of the set or of all sets
setting() {
  local found
  found=$(sed -n "/^$1:/,/^[^ ]/s/^ *$2: *//p" "$settings" | head -n 1)
  [ -n "$found" ] || found=$(sed -n "/^all:/,/^[^ ]/s/^ *$2: *//p" "$settings" | head -n 1)
  tr -d '"' <<< "$found"
}

# split SET KIND: the folder with the rows of its parts
split() {
  local parts folder
  parts=$(setting "$1" "parts-$2")
  [ -n "$parts" ] || parts=$(setting "$1" parts)
  folder=$out/$1-${parts//[=,]/-}
  [ -e "$folder/test-rows.npy" ] || "$sotto" data split "$1" --parts "$parts" --seed 1 -o "$folder" > /dev/null
  rm -f "$folder"/*-features.npy "$folder"/*-labels.npy # only the rows are needed
  echo "$folder"
}

# embed SET KIND PART OPTIONS...: $out/SET-KIND-PART.npy and its labels
embed() {
  local set=$1 kind=$2 part=$3 x=$out/$1-$2-$3
  shift 3
  [ -e "$x.npy" ] || "$sotto" embed --data "$set" --indices "$folder/$part-rows.npy" "$@" --threads "$threads" --quiet --labels-out "$x-labels.npy" \
    -o "$x.npy" > /dev/null
}

# features SET KIND: of the private and the test part. An encoder is trained on the public part first; PUBLIC in the options stands
# for features of the public part, without the option that asks for them.
features() {
  local set=$1 kind=$2 folder part options encoder=$out/$1-$2.safetensors public=$out/$1-$2-public.npy
  folder=$(split "$set" "$kind")
  read -ra options <<< "$(setting "$set" "pretrain-$kind")"
  [ ${#options[@]} -eq 0 ] || [ -e "$encoder" ] || "$sotto" pretrain --data "$set" --indices "$folder/public-rows.npy" "${options[@]}" --seed 1 \
    --threads "$threads" --quiet -o "$encoder" > /dev/null
  read -ra options <<< "$(setting "$set" "embed-$kind" | sed "s|ENCODER|$encoder|")"
  if [[ " ${options[*]} " == *" PUBLIC "* ]]; then
    read -ra plain <<< "$(sed 's/--standardise PUBLIC//' <<< "${options[*]}")"
    embed "$set" "$kind" public "${plain[@]}"
    read -ra options <<< "${options[*]//PUBLIC/$public}"
  fi
  for part in private test; do embed "$set" "$kind" $part "${options[@]}"; done
}

# ledger SET: options for a ledger of this experiment's own, which public sets may have; a set that was imported by hand has one ledger
ledger() {
  [ "$("$sotto" data info "$1" --json | sed -n 's/^  "dataset_id": "\(.*\)",/\1/p')" != "$1" ] || echo --ledger "$out/ledger.jsonl"
}

# train SET KIND METHOD EPSILON RUN: $out/head.safetensors. The ledger is this run's own: every run is an experiment, not a release.
train() {
  local set=$1 kind=$2 method=$3 epsilon=$4 run=$5 x=$out/$1-$2-private options kept=$out/$1-$2-convex.safetensors
  read -ra options <<< "$(setting "$set" "$method-$kind")"
  local target=(--epsilon "$epsilon" --delta "$delta")
  local common=(--features "$x.npy" --labels "$x-labels.npy" --classes 10 --threads "$threads" --quiet)
  local charged
  read -ra charged <<< "$(ledger "$set")"
  rm -f "$out/ledger.jsonl" "$out"/head.safetensors*
  case $method in
    convex) # deterministic: one head serves all runs and epsilons
      [ -e "$kept" ] || "$sotto" head "${common[@]}" "${options[@]}" -o "$kept"
      "$sotto" protect --head "$kept" --mechanism gaussian --epsilon "$epsilon" --delta $delta "${charged[@]}" --quiet \
        -o "$out/head.safetensors" ;;
    anchor) "$sotto" head "${common[@]}" "${charged[@]}" "${target[@]}" --trainer dp-sgd --adjacency zero-out --seed "$run" "${options[@]}" -o "$out/head.safetensors" ;;
    dp-sgd*) "$sotto" head "${common[@]}" "${charged[@]}" "${target[@]}" --trainer dp-sgd --seed "$run" \
      "${options[@]}" -o "$out/head.safetensors" ;;
    *) "$sotto" head "${common[@]}" "${charged[@]}" "${target[@]}" --trainer "$method" "${options[@]}" -o "$out/head.safetensors" ;;
  esac > /dev/null
}

# measure SET KIND METHOD EPSILON RUN: one line of results.csv, unless it is there
measure() {
  local set=$1 kind=$2 method=$3 x=$out/$1-$2-test adjacency=replace-one seconds accuracy
  [ "$method" != anchor ] || adjacency=add-remove
  ! grep -q "^$set,$kind,$method,$adjacency,$4,$5," "$out/results.csv" || return 0
  TIMEFORMAT='%U'
  seconds=$({ time train "$@" 2> "$out/log"; } 2>&1) || { cat "$out/log" >&2; exit 1; }
  accuracy=$("$sotto" predict --head "$out/head.safetensors" --features "$x.npy" --labels "$x-labels.npy" --json --quiet | grep -o '"estimate": [0-9.e-]*' | grep -o '[0-9.e-]*$')
  echo "$set,$kind,$method,$adjacency,$4,$5,$accuracy,$seconds" | tee -a "$out/results.csv" >&2
}

for set; do
  for method in $methods; do
    of=$kinds
    [ "$method" != anchor ] || of=scattering-wide
    for kind in $of; do
      features "$set" "$kind"
      for epsilon in $epsilons; do
        for run in $(seq "$runs"); do measure "$set" "$kind" "$method" "$epsilon" "$run"; done
      done
    done
  done
done

# One row per way, one column per epsilon: mean and half a t-interval (Student's t, 2 to 10 runs) over the runs; mean CPU time.
awk -F, 'BEGIN { split("0 12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262", t, " ") }
  { k = $1 "," $2 "," $3 "," $4; if (!(k in cpu)) row[++rows] = k; if (!($5 in seen)) { seen[$5] = 1; column[++columns] = $5 }
    c = k "," $5; n[c]++; s[c] += $7; q[c] += $7 * $7; cpu[k] += $8; all[k]++ }
  END { printf "%-14s %-16s %-18s %-12s", "set", "features", "way", "adjacency"
    for (j = 1; j <= columns; j++) printf "  %-13s", "epsilon " column[j]; print "CPU s a run"
    for (i = 1; i <= rows; i++) { split(row[i], f, ","); printf "%-14s %-16s %-18s %-12s", f[1], f[2], f[3], f[4]
      for (j = 1; j <= columns; j++) { c = row[i] "," column[j]; if (!n[c]) { printf "  %-13s", "-"; continue }
        m = s[c] / n[c]; v = n[c] > 1 ? (q[c] - n[c] * m * m) / (n[c] - 1) : 0
        h = n[c] > 1 && n[c] <= 10 ? sprintf("%.4f", t[n[c]] * sqrt((v > 0 ? v : 0) / n[c])) : "-"
        printf "  %.4f +-%-5s", m, substr(h, 2) }
      printf "%.1f\n", cpu[row[i]] / all[row[i]] } }' "$out/results.csv"
