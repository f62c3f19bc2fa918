#!/usr/bin/env bash
# Linear heads trained privately on fixed scattering features: five ways at equal epsilon and equal adjacency (replace-one,
# to which DP-SGD is calibrated; nothing is converted afterwards), and DP-SGD under add-remove, as published figures are.
# The official training part is private, the test part measures. RUNS runs, each with noise of its own; 95 % t-intervals over
# them. Settings stand in experiments/private-heads.yaml; they were tried out on Fashion-MNIST's test part, which no epsilon covers.
# usage: experiments/private-heads.sh FOLDER [fashion-mnist|mnist|cifar10]...
#   EPSILONS ("1 2 3 4 8"), RUNS (3), METHODS ("dp-sgd dp-sgd-logistic convex functional covariance dp-sgd-full"), SOTTO (sotto)
set -euo pipefail
sotto=${SOTTO:-sotto} epsilons=${EPSILONS:-1 2 3 4 8} runs=${RUNS:-3} delta=1e-5
methods=${METHODS:-dp-sgd dp-sgd-logistic convex functional covariance dp-sgd-full}
settings=$(dirname "$0")/private-heads.yaml
out=$1
shift
[ $# -gt 0 ] || set -- fashion-mnist
mkdir -p "$out"

# setting SET METHOD: the options of a row of the settings file
setting() { sed -n "/^$1:/,/^[^ ]/s/^ *$2: *//p" "$settings" | head -n 1 | tr -d '"'; }

embed() { # SET NAME OPTIONS...
  local set=$1 name=$2 part
  shift 2
  for part in train test; do
    [ -e "$out/$set-$name-$part.npy" ] || "$sotto" embed --encoder scattering --data "$set" --split $part "$@" \
      -o "$out/$set-$name-$part.npy" --labels-out "$out/$set-$part-labels.npy" --quiet > /dev/null
  done
}

# One private head: $out/head.safetensors. The ledger is this run's own: every run is an experiment, not a release.
train() { # SET METHOD EPSILON RUN FEATURES
  local set=$1 method=$2 epsilon=$3 seed=$4 x=$5 options
  read -ra options <<< "$(setting "$set" "$method")"
  local common=(--features "$x" --labels "$out/$set-train-labels.npy" --dataset-id "$set-$seed" --ledger "$out/ledger.jsonl" --quiet)
  rm -f "$out/ledger.jsonl" "$out"/head.safetensors*
  case $method in
    dp-sgd-full) "$sotto" head "${common[@]}" --trainer dp-sgd --seed "$seed" --target-epsilon "$epsilon" --delta $delta "${options[@]}" -o "$out/head.safetensors" ;;
    dp-sgd*) "$sotto" head "${common[@]}" --trainer dp-sgd --adjacency replace-one --seed "$seed" --target-epsilon "$epsilon" --delta $delta \
      "${options[@]}" -o "$out/head.safetensors" ;;
    convex)
      local plain=$out/$set-convex.safetensors # deterministic: one head serves all runs and epsilons
      [ -e "$plain" ] || "$sotto" head --features "$x" --labels "$out/$set-train-labels.npy" "${options[@]}" -o "$plain" --quiet
      "$sotto" protect --head "$plain" --mechanism gaussian --epsilon "$epsilon" --delta $delta --ledger "$out/ledger.jsonl" -o "$out/head.safetensors" --quiet ;;
    *) "$sotto" head "${common[@]}" --trainer "$method" --target-epsilon "$epsilon" --delta $delta "${options[@]}" -o "$out/head.safetensors" ;;
  esac > /dev/null
}

for set; do
  grid=$(setting "$set" grid)
  embed "$set" small --grid "$grid"
  [[ " $methods " != *" dp-sgd-full "* ]] || embed "$set" full
  for epsilon in $epsilons; do
    for method in $methods; do
      features=small adjacency=replace-one
      [ "$method" != dp-sgd-full ] || features=full adjacency=add-remove
      for run in $(seq "$runs"); do
        TIMEFORMAT='%U'
        seconds=$({ time train "$set" "$method" "$epsilon" "$run" "$out/$set-$features-train.npy" 2> "$out/log"; } 2>&1) || { cat "$out/log" >&2; exit 1; }
        accuracy=$("$sotto" predict --head "$out/head.safetensors" --features "$out/$set-$features-test.npy" --labels "$out/$set-test-labels.npy" --json --quiet |
          grep -o '"estimate": [0-9.e-]*' | grep -o '[0-9.e-]*$')
        echo "$set,$epsilon,$method,$adjacency,$run,$accuracy,$seconds" | tee -a "$out/results.csv" >&2
      done
    done
  done
done

# Mean and t-interval of each row (Student's t for 2 to 10 runs).
awk -F, '{ k = $1 "," $2 "," $3 "," $4; if (!(k in n)) order[++rows] = k; n[k]++; s[k] += $6; q[k] += $6 * $6; c[k] += $7 }
  END { split("0 12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262", t, " ")
    printf "%-14s %7s %-16s %-12s %4s %8s  %-18s %s\n", "set", "epsilon", "method", "adjacency", "runs", "accuracy", "95 %", "CPU s"
    for (i = 1; i <= rows; i++) { k = order[i]; split(k, f, ","); m = s[k] / n[k]; v = n[k] > 1 ? (q[k] - n[k] * m * m) / (n[k] - 1) : 0
      h = n[k] > 1 && n[k] <= 10 ? t[n[k]] * sqrt((v > 0 ? v : 0) / n[k]) : 0
      printf "%-14s %7s %-16s %-12s %4d %8.4f  [%.4f, %.4f]   %.1f\n", f[1], f[2], f[3], f[4], n[k], m, m - h, m + h, c[k] / n[k] } }' "$out/results.csv"
