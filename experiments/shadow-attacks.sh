#!/usr/bin/env bash
# The lecture's table of shadow-model attacks: train and test accuracy of the target, precision and recall of each attack at
# its own threshold, with intervals. Location and Adult must have been imported (sotto data import); what stands in for
# Purchase is synthetic-purchase, and labelled so. mnist (imported; SHADOWS of Shokri's attack: 50) is not among the defaults.
# usage: experiments/shadow-attacks.sh FOLDER [location|adult|mnist|purchase-2|...]...   (SOTTO: the program; default: sotto)
set -euo pipefail
sotto=${SOTTO:-sotto}
out=$1
shift
[ $# -gt 0 ] || set -- location adult purchase-2 purchase-10 purchase-20 purchase-50 purchase-100

# field FILE PATH-LIKE-PATTERN: the number behind the first match
field() { grep -o "$2" "$1" | head -n 1 | grep -o '[-0-9.e]*$'; }

# line SET ATTACK RESULT: one row of the table
line() {
  local r=$3 estimate='"estimate":[-0-9.e]*' lower='"lower":[-0-9.e]*' upper='"upper":[-0-9.e]*' part
  part=$(grep -o '"model_attack":.*' "$r" | grep -o '"decision":{.*' || true)
  printf '%s\n' "$part" > "$r.part"
  sed 's/.*"attacks":\[//' "$r" > "$r.attacks"
  printf '%-13s %-18s train %.3f test %.3f  ' "$1" "$2" "$(field "$r" "\"accuracy\":{\"member\":{$estimate")" \
    "$(grep -o '"nonmember":{"estimate":[-0-9.e]*' "$r" | head -n 1 | grep -o '[-0-9.e]*$')"
  if [ -n "$part" ]; then
    printf 'precision %.3f [%.3f, %.3f] recall %.3f  ' "$(field "$r.part" "\"precision\":{$estimate")" \
      "$(field "$r.part" "\"precision\":{$estimate,$lower")" "$(field "$r.part" "\"precision\":{$estimate,$lower,$upper")" \
      "$(field "$r.part" "\"recall\":{$estimate")"
  fi
  printf 'AUC %.3f [%.3f, %.3f]\n' "$(field "$r.attacks" "\"auc\":{$estimate")" "$(field "$r.attacks" "\"auc\":{$estimate,$lower")" \
    "$(field "$r.attacks" "\"auc\":{$estimate,$lower,$upper")"
  rm "$r.part" "$r.attacks"
}

for set; do
  flags=() sizes=member=10000,nonmember=10000,attacker=20000 own=10000 name=$set shadows=10 epochs=50
  case $set in
    location) sizes=member=1200,nonmember=1200,attacker=2610 own=1200 shadows=60 ;;
    mnist) shadows=${SHADOWS:-50} ;;
    adult) sizes=member=10000,nonmember=10000,attacker=12561 own=6000 flags=(--one-hot) shadows=20 ;;
    purchase-*) name=synthetic-purchase-k${set#purchase-}-n40000 ;;
  esac
  folder=$out/$set
  "$sotto" data split "$name" --parts "$sizes" --seed 1 "${flags[@]}" -o "$folder" > /dev/null
  "$sotto" head --features "$folder/member-features.npy" --labels "$folder/member-labels.npy" --hidden 128 --epochs $epochs --batch 100 \
    --seed 1 -o "$folder/target.safetensors" > /dev/null
  for attack in shokri ml-leaks-1 ml-leaks-3 ml-leaks-combined; do
    n=1
    [ $attack != shokri ] || n=$shadows
    "$sotto" attack $attack --target "$folder/target.safetensors" --member-features "$folder/member-features.npy" \
      --member-labels "$folder/member-labels.npy" --nonmember-features "$folder/nonmember-features.npy" \
      --nonmember-labels "$folder/nonmember-labels.npy" --attacker-features "$folder/attacker-features.npy" \
      --attacker-labels "$folder/attacker-labels.npy" --shadows $n --shadow-records $own --cache "$out/shadows" --seed 1 \
      -o "$folder/$attack" > /dev/null 2> "$folder/$attack.log" || { cat "$folder/$attack.log" >&2; exit 1; }
    line "$set" "$attack" "$folder/$attack/result.json"
  done
done
