#!/usr/bin/env bash
# The attacks of this program through the monitor: Fashion-MNIST at 14 x 14, a network 196-128-10 on 1,000 records, 400 blocks of
# 50 benign rows as calibration, alpha .001. Prints: one line for each attack (AUC, rows asked, row of the alarm of all and of each
# statistic, share of the rows that were answered by then); the same rows diluted, shuffled, after a benign past, from several
# accounts; 200 benign streams of 2,000 rows, each with a calibration of its own; what the attacks get before the alarm (answers without
# content from then on, records in a random order); and what is left to attackers that hide. Results: notes/results.md.
# Needs python3 with numpy, and Debian's dataset-fashion-mnist (IMAGES: its folder).
# usage: experiments/monitor.sh FOLDER [attacks|variants|benign|cut|hidden]...
#   SOTTO (sotto), STREAMS (200). What is there is kept: a killed experiment goes on.
set -euo pipefail
sotto=${SOTTO:-sotto} streams=${STREAMS:-200} images=${IMAGES:-/usr/share/datasets/fashion-mnist}
here=$(cd "$(dirname "$0")" && pwd)
examples=$here/../examples # as installed
[ -d "$examples" ] || examples=$here/../../../../examples
out=$1
shift
[ $# -gt 0 ] || set -- attacks variants benign cut hidden
mkdir -p "$out"
python() { python3 "$here/monitor/streams.py" "$@"; }

[ -e "$out/some-nonmember-labels.npy" ] || python data "$out" "$images/train-images-idx3-ubyte.gz" "$images/train-labels-idx1-ubyte.gz"
[ -e "$out/target.safetensors" ] || "$sotto" head --features "$out/member.npy" --labels "$out/member-labels.npy" --hidden 128 --epochs 200 \
  --seed 1 --threads 1 --quiet -o "$out/target.safetensors"
[ -e "$out/target.npz" ] || python layers "$out/target.safetensors" "$out/target.npz"
[ -e "$out/calibration-0.npy" ] || python benign "$out" 0
[ -e "$out/cover.npy" ] || python cover "$out"

judge() { "$sotto" monitor "$@" --calibration "$out/calibration-0.npy" --calibration-answers "$out/calibration-0-answers.npy" --bank "$out/bank.npy" --training "$out/member.npy" --quiet; }
# monitored LOG OPTIONS...: the target behind the monitor, as a command
monitored() {
  local log=$1
  shift
  echo "'$sotto' monitor --calibration '$out/calibration-0.npy' --calibration-answers '$out/calibration-0-answers.npy' --bank '$out/bank.npy' \
    --training '$out/member.npy' --quiet --log '$log' $* -- python3 '$examples/serve_numpy.py' '$out/target.npz'"
}
# ask NAME RECORDS FOLDER COMMAND OPTIONS...: the attack on a command. RECORDS: few-, some- or nothing
ask() {
  local name=$1 some=$2 folder=$3 command=$4
  shift 4
  "$sotto" attack "$name" --target-command "$command" --classes 10 \
    --member-features "$out/${some}member.npy" --member-labels "$out/${some}member-labels.npy" \
    --nonmember-features "$out/${some}nonmember.npy" --nonmember-labels "$out/${some}nonmember-labels.npy" \
    --attacker-features "$out/attacker.npy" --attacker-labels "$out/attacker-labels.npy" --trainer adam --hidden 128 --epochs 200 \
    --seed 1 --threads 1 --timeout 600 --quiet "$@" -o "$folder" > /dev/null
}
# attack NAME RECORDS OPTIONS...
attack() {
  local name=$1 few=$2
  shift 2
  if [ ! -e "$out/$name.json" ]; then
    rm -rf "$out/$name.log" "${out:?}/$name"
    ask "$name" "$few" "$out/$name" "$(monitored "$out/$name.log")" "$@"
    judge "$out/$name.log" --output "$out/$name.json" > /dev/null
  fi
  python row "$out" "$name"
}
# cut LABEL NAME RECORDS OPTIONS...: the attack without a monitor, which other labels share, and behind one that withholds answers from
# its alarm on. What hides queries stands after a --.
cut() {
  local label=$1 name=$2 some=$3 options=()
  shift 3
  while [ $# -gt 0 ] && [ "$1" != -- ]; do options+=("$1"); shift; done
  [ $# -eq 0 ] || shift
  [ -e "$out/all-$name/scores.npy" ] ||
    ask "$name" "$some" "$out/all-$name" "python3 '$examples/serve_numpy.py' '$out/target.npz'" --shuffle "${options[@]}"
  if [ ! -e "$out/$label.json" ]; then
    rm -rf "$out/$label.log" "${out:?}/$label"
    ask "$name" "$some" "$out/$label" "$(monitored "$out/$label.log" --on-alarm withhold)" --shuffle --query-batch 50 "${options[@]}" "$@"
    judge "$out/$label.log" --output "$out/$label.json" > /dev/null
    rm "$out/$label.log"
  fi
  python cut "$out" "$label" "$name"
}

for part; do
  if [ "$part" = attacks ]; then
    attack boundary few- --queries 500
    attack noise few- --queries 200
    attack augmentation few- --image 1,14,14
    attack shokri '' --shadow-data synthesis --shadows 2 --synthetic-records 100
    attack ml-leaks-3 ''
    attack ml-leaks-1 ''
    attack transfer ''
    attack lira-offline '' --shadows 16
  elif [ "$part" = variants ]; then
    for name in boundary noise augmentation; do
      [ -e "$out/$name-accounts-100.log" ] || python vary "$out" "$name"
      for log in "$out/$name"-{dilute,blocks}-{0.5,0.2,0.1,0.05}.log "$out/$name"-{shuffle,past}.log "$out/$name"-accounts-{4,20,100}.log; do
        flags=()
        [[ $log != *accounts* ]] || flags=(--service)
        [ -e "${log%.log}.json" ] || judge "$log" "${flags[@]}" --output "${log%.log}.json" > /dev/null
        python alarms "$(basename "${log%.log}")" "${log%.log}.json"
      done
    done
  elif [ "$part" = cut ]; then
    cut cut-augmentation augmentation some- --image 1,14,14
    cut cut-ml-leaks-3 ml-leaks-3 ''
    cut cut-lira-offline lira-offline '' --shadows 16
    cut cut-shokri shokri '' --shadow-data synthesis --shadows 2 --synthetic-records 100
    cut cut-noise noise some- --queries 200
    cut cut-boundary boundary some- --queries 500
  elif [ "$part" = hidden ]; then
    for share in 0.5 0.2 0.1 0.05; do cut "diluted-$share" augmentation some- --image 1,14,14 -- --dilute "$share" --cover "$out/cover.npy"; done
    for n in 9 49; do cut "decoys-$n" augmentation some- --image 1,14,14 -- --decoys "$n" --cover "$out/cover.npy"; done
    for n in 4 20 100; do cut "accounts-$n" augmentation some- --image 1,14,14 -- --spread "$n"; done
    cut accounts-20-diluted-0.2 augmentation some- --image 1,14,14 -- --spread 20 --dilute 0.2 --cover "$out/cover.npy"
  else
    for ((s = 0; s < streams; s++)); do
      [ ! -e "$out/benign-$s.json" ] || continue
      [ -e "$out/calibration-$s.npy" ] || python benign "$out" "$s"
      "$sotto" monitor "$out/benign-$s.log" --calibration "$out/calibration-$s.npy" --calibration-answers "$out/calibration-$s-answers.npy" \
        --bank "$out/bank.npy" --quiet --output "$out/benign-$s.json" > /dev/null
      [ "$s" -eq 0 ] || rm "$out/calibration-$s.npy" "$out/calibration-$s-answers.npy" "$out/benign-$s.log"
    done
    python lives "$out"/benign-*.json
  fi
done
