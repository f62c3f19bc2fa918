#!/usr/bin/env bash
# Membership attacks on small convolutional networks: LiRA and its relatives beside older attacks, and how their gain grows with
# the gap between training and test accuracy and with the number of classes. Results: notes/results.md.
#   cifar10, fashion-mnist   2,500 members, a cnn of widths 16, 32, 64 that learns them nearly by heart; 32 shadows
#                            ($SHADOWS), half as many where they are trained on the attacker's own records
#   epochs                   the same cifar10 target after 5, 10, 20 and 40 epochs, one shadow each
#   records                  the same recipe on 1,000, 2,500, 5,000 and 10,000 records of cifar10, one shadow each
#   classes                  synthetic purchases of 2, 10, 20, 50 and 100 classes (made up!), networks of one hidden layer, ten shadows
# Expected with THREADS=1: cifar10, target .933 on members and .472 on others: loss AUC .778, TPR at 1 % FPR .018; lira .854, .198; rmia
# .853, .189; shokri .797, precision .702. fashion-mnist: loss .546, lira .640. epochs: gap .090, .245, .461: loss AUC .564, .658, .778; 2 to
# 100 classes: precision of shokri .549, .648, .674, .786, .867.
# cifar10 must have been imported (sotto data import). Finished shadows are kept in FOLDER/shadows: a killed run goes on.
# usage: experiments/lira-cnn.sh FOLDER [cifar10|fashion-mnist|epochs|records|classes]...
#        (SOTTO: the program; default: sotto. THREADS: default 2; other numbers change last bits)
set -euo pipefail
sotto=${SOTTO:-sotto}
threads=${THREADS:-2}
shadows=${SHADOWS:-32}
out=$1
shift
[ $# -gt 0 ] || set -- cifar10 fashion-mnist epochs records classes

# number FILE PATTERN: what stands behind the first match
number() { grep -o "$2[-0-9.e]*" "$1" | head -n 1 | grep -o '[-0-9.e]*$'; }

# line NAME ATTACK RESULT: one row of the table, of that attack in that result
line() {
  local r=$3 part=$3.part e='"estimate":' low='"estimate":[-0-9.e]*,"lower":' high='"estimate":[-0-9.e]*,"lower":[-0-9.e]*,"upper":'
  sed 's/.*"attacks":\[//; s/{"name":"/\n&/g' "$r" | grep "^{\"name\":\"$2\"" > "$part"
  printf '%-15s %-18s train %.3f test %.3f  AUC %.3f [%.3f, %.3f]  TPR at 1 %% FPR %.3f [%.3f, %.3f]  balanced accuracy %.3f' "$1" "${4:-$2}" \
    "$(number "$r" "\"accuracy\":{\"member\":{$e")" "$(number "$r" "\"nonmember\":{$e")" \
    "$(number "$part" "\"auc\":{$e")" "$(number "$part" "\"auc\":{$low")" "$(number "$part" "\"auc\":{$high")" \
    "$(number "$part" "\"0.01\":{$e")" "$(number "$part" "\"0.01\":{$low")" "$(number "$part" "\"0.01\":{$high")" \
    "$(number "$part" '"balanced_accuracy":')"
  if [ "$2" != loss ] && grep -q '"decision":{' "$r"; then
    grep -o '"decision":{.*' "$r" > "$part"
    printf '  precision %.3f [%.3f, %.3f] recall %.3f' "$(number "$part" "\"precision\":{$e")" "$(number "$part" "\"precision\":{$low")" \
      "$(number "$part" "\"precision\":{$high")" "$(number "$part" "\"recall\":{$e")"
  fi
  printf '\n'
  rm "$part"
}

# split SET FOLDER MEMBERS ATTACKER: members, as many others, and the attacker's records
split() { "$sotto" data split "$1" --parts "member=$3,nonmember=$3,attacker=$4" --seed 1 -o "$2" > /dev/null; }

# train FOLDER FLAGS...: the target, on the members
train() {
  local folder=$1
  shift
  "$sotto" train --data "$folder/member-features.npy:$folder/member-labels.npy" "$@" --seed 1 --dtype f32 --threads "$threads" --quiet \
    -o "$folder/target.safetensors" > /dev/null
}

# attack FOLDER RESULT NAME FLAGS...: without the attacker's records where own is empty
attack() {
  local folder=$1 to=$1/$2 name=$3 more=()
  shift 3
  [ -z "$own" ] || more=(--attacker-features "$folder/attacker-features.npy" --attacker-labels "$folder/attacker-labels.npy")
  "$sotto" attack "$name" --target "$folder/target.safetensors" --member-features "$folder/member-features.npy" \
    --member-labels "$folder/member-labels.npy" --nonmember-features "$folder/nonmember-features.npy" \
    --nonmember-labels "$folder/nonmember-labels.npy" "${more[@]}" --cache "$out/shadows" --seed 1 --threads "$threads" --progress never "$@" \
    -o "$to" > /dev/null 2> "$to.log" || { cat "$to.log" >&2; exit 1; }
}

own=yes
cnn=(--model cnn --hidden "16,32,64" --lr 0.002 --batch 32)

lira() { # SET IMAGE
  local folder=$out/$1
  mkdir -p "$folder"
  split "$1" "$folder" 2500 7500
  train "$folder" --image "$2" "${cnn[@]}" --epochs 20
  # Online shadows train on half of the records to judge and of what else the attacker has: nothing, so that each has
  # as many as the target.
  own=
  attack "$folder" lira lira --shadows "$shadows"
  line "$1" loss "$folder/lira/result.json"
  line "$1" lira "$folder/lira/result.json"
  attack "$folder" lira-mirrored lira --shadows "$shadows" --views 2
  line "$1" lira "$folder/lira-mirrored/result.json" "lira, 2 views"
  attack "$folder" rmia rmia --shadows "$shadows"
  line "$1" rmia "$folder/rmia/result.json"
  own=yes
  for name in lira-offline rmia-offline; do
    attack "$folder" $name $name --shadows $((shadows / 2)) --shadow-records 2500
    line "$1" $name "$folder/$name/result.json"
  done
  attack "$folder" shokri shokri --shadows $((shadows / 2)) --shadow-records 2500
  line "$1" shokri "$folder/shokri/result.json"
  for name in ml-leaks-1 gradient-norm; do
    attack "$folder" $name $name --shadows 1 --shadow-records 2500
    line "$1" $name "$folder/$name/result.json"
  done
}

# gap NAME RECORDS EPOCHS: one target and one shadow of cifar10
gap() {
  local folder=$out/$1
  mkdir -p "$folder"
  split cifar10 "$folder" "$2" $((2 * $2))
  train "$folder" --image 3,32,32 "${cnn[@]}" --epochs "$3"
  attack "$folder" ml-leaks-1 ml-leaks-1 --shadows 1 --shadow-records "$2"
  line "$1" loss "$folder/ml-leaks-1/result.json"
  line "$1" ml-leaks-1 "$folder/ml-leaks-1/result.json"
}

classes() { # K
  local folder=$out/classes-$1
  mkdir -p "$folder"
  split "synthetic-purchase-k$1-n20000" "$folder" 2500 10000
  train "$folder" --model mlp --hidden 128 --epochs 50 --batch 50
  attack "$folder" shokri shokri --shadows 10 --shadow-records 2500
  line "$1 classes" loss "$folder/shokri/result.json"
  line "$1 classes" shokri "$folder/shokri/result.json"
}

mkdir -p "$out"
for part; do
  case $part in
    cifar10) lira cifar10 3,32,32 ;;
    fashion-mnist) lira fashion-mnist 1,28,28 ;;
    epochs) for e in 5 10 20 40; do gap "epochs-$e" 2500 $e; done ;;
    records) for n in 1000 2500 5000 10000; do gap "records-$n" $n 20; done ;;
    classes) for k in 2 10 20 50 100; do classes $k; done ;;
    *) echo "lira-cnn.sh: unknown part '$part'; expected cifar10, fashion-mnist, epochs, records or classes" >&2; exit 64 ;;
  esac
done
