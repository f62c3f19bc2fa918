#!/usr/bin/env bash
# Residual perturbation on one data set: the paper's split and attack, and beside it an attacker who knows of the noise.
# Four disjoint parts of equal size for each seed: the target's members and others, the attacker's members and others. Each row
# is a target trained on its members; the attacks are
#   plain      residual-mia with a shadow that has no noise (the paper's attacker)
#   adaptive   the same with a shadow that is trained and answers as the target does
#   averaged   the adaptive one on means of $REPEATS noisy answers
#   loss       by the target's loss alone: no shadow
# and for the rows named under `lira`, of seed 1, LiRA with noisy shadows. Rows, as the configuration lists them:
#   plain, add-G, mul-G (noise G in every block; additive: half of it on the input), enE-G (E members, additive), noskip-G,
#   group (no noise, group norm) and dpsgd (group norm; the plain attacker's shadow has no noise)
# What is finished stays: a killed run goes on. Resistance that is measured here is no differential privacy.
# usage: src/modules/residual/experiments/residual.sh FOLDER CONFIG.yaml [PRESET [ROW...]]      PRESET: scaled (default) or full
#   SOTTO (sotto), THREADS (1), JOBS (1: targets of a seed that are trained side by side and share the threads), SEEDS (as
#   configured), REPEATS (10); TABLE=1: only the table of what is there
# Writes results.csv, and the paper's figures as plots: figures.json and figures.html (accuracy and areas against gamma for one network
# and ensembles, against the size of the ensemble, ROC curves).
set -euo pipefail
sotto=${SOTTO:-sotto} threads=${THREADS:-1} jobs=${JOBS:-1} repeats=${REPEATS:-10}
out=$1 config=$2 preset=${3:-scaled}
shift $(($# < 3 ? $# : 3))

# setting KEY: of the preset
setting() { sed -n "/^$preset:/,/^[^ ]/s/^ *$1: *//p" "$config" | head -n 1 | sed 's/ *#.*//; s/"//g'; }

[ -n "$(setting set)" ] || { echo "residual.sh: $config has no preset '$preset'" >&2; exit 64; }
seeds=${SEEDS:-$(setting seeds)} set=$(setting set) part=$(setting part)
rows=${*:-$(setting rows)} attacks=$(setting attacks)
read -ra common <<< "$(setting train)"
out=$out/$set-$preset
mkdir -p "$out"
trap 'jobs -p | xargs -r -I {} kill -- -{}' EXIT # targets still in training end with this script

# number FILE PATTERN: what stands behind the first match
number() { { grep -o "$2[-0-9.e]*" "$1" || true; } | head -n 1 | grep -o '[-0-9.e]*$' || echo nan; }

# options ROW: how its target is trained, besides the common options
options() {
  local gamma=${1##*-} half
  half=$(awk -v g="${gamma//[a-z]/0}" 'BEGIN { print g / 2 }')
  case $1 in
    plain) ;;
    group) echo --norm group ;;
    add-*) echo --residual-perturbation additive --gamma "$gamma" --input-noise "$half" ;;
    mul-*) echo --residual-perturbation multiplicative --gamma "$gamma" ;;
    en*-*) gamma=${1#*-} half=$(awk -v g="$gamma" 'BEGIN { print g / 2 }')
      echo --ensemble "$(echo "${1%%-*}" | tr -d en)" --residual-perturbation additive --gamma "$gamma" --input-noise "$half" ;;
    noskip-0) echo --no-skip ;;
    noskip-*) echo --no-skip --residual-perturbation additive --gamma "$gamma" --input-noise "$half" ;;
    *) echo "residual.sh: unknown row '$1'" >&2; exit 64 ;;
  esac
}

# train SEED ROW: the target, and its processor time
train() {
  local split=$out/split-$1 folder=$out/$2-$1 how=() more resumed='' classes TIMEFORMAT='%U'
  local data=$split/member-features.npy:$split/member-labels.npy
  [ ! -e "$folder/seconds" ] || return 0
  mkdir -p "$folder"
  if [ "$2" = dpsgd ]; then
    read -ra how <<< "$(setting dpsgd)"
    how=(--dp-sgd --noise-multiplier 1.1 --max-grad-norm 1 --adjacency zero-out --delta 1e-5 "${how[@]}")
    classes=$("$sotto" data info "$set" --json | grep -o '"classes": *[0-9]*' | head -n 1 | grep -o '[0-9]*$')
    how+=(--classes "$classes")
    # an experiment, not a release: neither the set nor its ledger is among the user's own; the set that it was cut from must be at hand
    local sets=${SOTTO_DATA_DIR:-${XDG_DATA_HOME:-$HOME/.local/share}/sotto/data}
    local -x SOTTO_DATA_DIR=$folder/sets XDG_DATA_HOME=$folder/home
    rm -rf "${folder:?}/sets" "${folder:?}/home"
    mkdir -p "$folder/sets"
    [ ! -e "$sets/$set" ] || ln -s "$(realpath "$sets/$set")" "$folder/sets/$set"
    "$sotto" data import "$data" --name members --quiet > /dev/null
    data=members
  else
    more=$(options "$2") # ends the script where there is no such row
    read -ra how <<< "$more"
    how=("${common[@]}" "${how[@]}")
  fi
  [ ! -e "$folder/target.safetensors.checkpoint" ] || resumed=yes # its processor time is not the whole training's
  { time "$sotto" train --data "$data" --image "$(setting image)" "${how[@]}" \
    --seed "$1" --dtype f32 --threads "$(((threads + jobs - 1) / jobs))" --quiet -o "$folder/target.safetensors" > "$folder/train.txt" 2> "$folder/train.log"; } 2> "$folder/time" ||
    { cat "$folder/train.log" >&2; exit 1; }
  [ -z "$resumed" ] || echo nan > "$folder/time"
  mv "$folder/time" "$folder/seconds"
}

# attack SEED ROW RESULT NAME OPTIONS...
attack() {
  local split=$out/split-$1 folder=$out/$2-$1 to=$out/$2-$1/$3 seed=$1 name=$4
  [ ! -e "$to/result.json" ] || return 0
  shift 4
  "$sotto" attack "$name" --target "$folder/target.safetensors" --member-features "$split/member-features.npy" --member-labels "$split/member-labels.npy" \
    --nonmember-features "$split/nonmember-features.npy" --nonmember-labels "$split/nonmember-labels.npy" --cache "$out/shadows" --seed "$seed" \
    --threads "$threads" --progress never "$@" -o "$to" > "$folder/$name.txt" 2> "$folder/attack.log" || { cat "$folder/attack.log" >&2; exit 1; }
}

# row SEED ROW: train and attack
row() {
  local split=$out/split-$1 own
  own=(--attacker-features "$split/attacker-features.npy" --attacker-labels "$split/attacker-labels.npy")
  train "$1" "$2"
  case $2 in
    dpsgd)
      attack "$1" "$2" plain residual-mia "${own[@]}" --mismatch
      [[ "$attacks" != *adaptive* ]] || attack "$1" "$2" adaptive residual-mia "${own[@]}" ;;
    plain | group | noskip-0) attack "$1" "$2" plain residual-mia "${own[@]}" ;;
    *)
      attack "$1" "$2" plain residual-mia "${own[@]}" --plain-shadows
      [[ "$attacks" != *adaptive* ]] || attack "$1" "$2" adaptive residual-mia "${own[@]}"
      [[ "$attacks" != *averaged* ]] || attack "$1" "$2" averaged residual-mia "${own[@]}" --repeats "$repeats" ;;
  esac
}

# line FILE ROW SEED: one line of results.csv from a row's folder; nan where there is none
line() {
  local f=$out/$2-$3 auc='"auc":{"estimate":' plain=$out/$2-$3/plain/result.json loss
  [ -e "$plain" ] && [ -e "$f/seconds" ] || return 0
  loss=$(sed 's/.*"attacks":\[//; s/{"name":"/\n&/g' "$plain" | grep '^{"name":"loss"' | grep -o "${auc}[0-9.e-]*" | head -n 1 | grep -o '[0-9.e-]*$')
  echo "$2,$3,$(number "$plain" '"accuracy":{"member":{"estimate":'),$(number "$plain" '"nonmember":{"estimate":'),$(first "$plain"),$(first "$f/adaptive/result.json"),$(first "$f/averaged/result.json"),$loss,$(
    bound "$plain"),$(bound "$f/adaptive/result.json"),$(tail -n 1 "$f/seconds"),$(first "$f/lira/result.json")"
}
first() { [ -e "$1" ] && sed 's/.*"attacks":\[//' "$1" | grep -o '"auc":{"estimate":[0-9.e-]*' | head -n 1 | grep -o '[0-9.e-]*$' || echo nan; }
bound() { [ -e "$1" ] && sed 's/.*"attacks":\[//' "$1" | grep -o '"epsilon_lower_bound":[0-9.e-]*' | head -n 1 | grep -o '[0-9.e-]*$' || echo nan; }

for seed in $seeds; do
  [ -z "${TABLE:-}" ] || break
  [ -e "$out/split-$seed/attacker-rows.npy" ] ||
    "$sotto" data split "$set" --parts "member=$part,nonmember=$part,attacker=$((2 * part))" --seed "$seed" -o "$out/split-$seed" > /dev/null
  if [ "$jobs" -gt 1 ]; then # networks side by side wait for each other less than the threads of one
    set -m # each a process group, for the trap
    for r in $rows; do
      while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
      train "$seed" "$r" &
    done
    while [ -n "$(jobs -p)" ]; do wait -n; done
  fi
  for r in $rows; do
    row "$seed" "$r"
    echo "$(date +%T) $set seed $seed $r" >&2
  done
  for r in $(setting lira); do # shadows of halves of the records to judge
    [ "$seed" != 1 ] || [[ " $rows " != *" $r "* ]] || attack 1 "$r" lira lira --shadows "$(setting shadows)"
  done
done

echo "row,seed,train,test,auc_plain_shadow,auc_adaptive,auc_averaged,auc_loss,epsilon_plain,epsilon_adaptive,cpu_seconds,auc_lira" > "$out/results.csv"
for r in $rows; do
  for folder in "$out/$r"-[0-9]*; do line "$folder" "$r" "${folder##*-}" >> "$out/results.csv"; done
done

# Means and t-intervals over the seeds.
awk -F, 'NR > 1 { if (!($1 in n)) order[++rows] = $1; n[$1]++
    for (c = 3; c <= 12; c++) if ($c != "nan" && $c != "") { m[$1, c]++; s[$1, c] += $c; q[$1, c] += $c * $c } }
  function cell(r, c, digits,   k, mean, v, h) { k = m[r, c]; if (!k) return "-"; mean = s[r, c] / k
    if (k == 1) return sprintf("%." digits "f", mean)
    v = (q[r, c] - k * mean * mean) / (k - 1); h = k <= 10 ? t[k] * sqrt((v > 0 ? v : 0) / k) : 0
    return sprintf("%." digits "f [%." digits "f, %." digits "f]", mean, mean - h, mean + h) }
  END { split("0 12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262", t, " ")
    print "| row | seeds | train | test | attack: plain shadow | adaptive | averaged | loss | LiRA | epsilon >= (adaptive, else plain) | CPU s |"
    print "|---|---|---|---|---|---|---|---|---|---|---|"
    for (i = 1; i <= rows; i++) { r = order[i]
      printf "| %s | %d | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", r, n[r], cell(r, 3, 3), cell(r, 4, 3), cell(r, 5, 3), cell(r, 6, 3), cell(r, 7, 3),
        cell(r, 8, 3), cell(r, 12, 3), m[r, 10] ? cell(r, 10, 3) : cell(r, 9, 3), cell(r, 11, 0) } }' "$out/results.csv"

# points COLUMN PATTERN NAME [X]: a line of a figure, one point for each row whose name matches: its number (gamma; X 2: size of the
# ensemble), mean and t-interval over the seeds. The row without noise stands at 0. Nothing where there is no point.
points() {
  awk -F, -v c="$1" -v pattern="$2" -v name="$3" -v by="${4:-1}" 'NR > 1 && $1 ~ pattern && $c != "nan" && $c != "" {
      split($1, part, "-"); x = $1 == "plain" ? 1 - (by == 1) : by == 2 ? (part[1] ~ /^en/ ? substr(part[1], 3) : 1) : part[2]
      x += 0; n[x]++; s[x] += $c; q[x] += $c * $c }
    END { split("0 12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262", t, " ")
      for (x in n) at[++count] = x + 0
      for (i = 2; i <= count; i++) for (k = i; k > 1 && at[k - 1] > at[k]; k--) { h = at[k]; at[k] = at[k - 1]; at[k - 1] = h }
      for (i = 1; i <= count; i++) { x = at[i]; m = s[x] / n[x]; v = n[x] > 1 ? (q[x] - n[x] * m * m) / (n[x] - 1) : 0
        h = n[x] > 1 && n[x] <= 10 ? t[n[x]] * sqrt((v > 0 ? v : 0) / n[x]) : 0
        line = line (i > 1 ? ", " : "") (h > 0 ? sprintf("[%g, %.4f, %.4f, %.4f]", x, m, m - h, m + h) : sprintf("[%g, %.4f]", x, m)) }
      if (count) printf "{\"name\": \"%s\", \"points\": [%s]}\n", name, line }' "$out/results.csv"
}
# curve ROW ATTACK NAME: the ROC curve of that attack on the row of the first seed
curve() {
  local result=$out/$1-${seeds%% *}/plain/result.json part roc
  [ -e "$result" ] || return 0
  part=$(sed 's/.*"attacks":\[//; s/{"name":"/\n&/g' "$result" | grep "^{\"name\":\"$2\"")
  roc=$(grep -o '"roc":\[\[[^a-z]*\]\]' <<< "$part" | sed 's/"roc"://')
  echo "{\"name\": \"$3 (AUC $(grep -o '"auc":{"estimate":[0-9.e-]*' <<< "$part" | head -n 1 | grep -o '[0-9.e-]*$' | cut -c 1-5))\", \"points\": $roc}"
}
# figure TITLE X Y < lines
figure() {
  local lines
  lines=$(paste -sd ,)
  [ -z "$lines" ] || echo "{\"title\": \"$1\", \"x\": \"$2\", \"y\": \"$3\", \"lines\": [$lines]}"
}
figures() {
  local e size first
  { points 3 '^(plain|add-)' 'one network, training'; points 4 '^(plain|add-)' 'one network, test'
    for e in 2 5; do points 3 "^en$e-" "$e networks, training"; points 4 "^en$e-" "$e networks, test"; done; } |
    figure 'Accuracy against additive noise' 'gamma' 'accuracy'
  { points 5 '^(plain|add-)' 'shadow without noise (the attack of the paper)'; points 6 '^(plain|add-)' 'shadow trained as the target'
    points 8 '^(plain|add-)' 'loss, no shadow'; points 12 '^(plain|add-)' 'LiRA'
    for e in 2 5; do points 5 "^en$e-" "$e networks, shadow without noise"; points 8 "^en$e-" "$e networks, loss"; done; } |
    figure 'Attacks against additive noise' 'gamma' 'area under the ROC curve'
  { points 4 '^(plain|mul-)' 'test accuracy'; points 5 '^(plain|mul-)' 'area, shadow without noise'; points 8 '^(plain|mul-)' 'area, loss'; } |
    figure 'Multiplicative noise' 'gamma' 'accuracy, area'
  size='^(add|en[0-9]+)-0.5$'
  { points 3 "$size" 'training accuracy' 2; points 4 "$size" 'test accuracy' 2; points 5 "$size" 'area, shadow without noise' 2
    points 8 "$size" 'area, loss' 2; } | figure 'Size of the ensemble, additive noise, gamma 0.5' 'networks' 'accuracy, area'
  first='seed '${seeds%% *}
  { for r in plain add-0.5 mul-0.5 en5-0.5 dpsgd; do curve "$r" residual-mia "$r"; done; } |
    figure "ROC curves of the attack of the paper, $first" 'false-positive rate' 'true-positive rate'
  { for r in plain add-0.5 mul-0.5 en5-0.5 dpsgd; do curve "$r" loss "$r"; done; } |
    figure "ROC curves of the loss attack, $first" 'false-positive rate' 'true-positive rate'
}
{
  echo "{\"schema\": \"sotto.figures/1\", \"title\": \"Residual perturbation: $set, preset $preset\", \"statement\": \"Measured, not proved: resistance to these attacks is no differential privacy. Means over the seeds $seeds; bars are 95 % t-intervals over them. The row without noise stands at gamma 0.\", \"figures\": ["
  figures | paste -sd ,
  echo "]}"
} > "$out/figures.json"
"$sotto" report "$out/figures.json" -o "$out/figures.html" --quiet > /dev/null
