#!/usr/bin/env bash
# The attacks of this program through the monitor: Fashion-MNIST at 14 x 14, a network 196-128-10 on 1,000 records, 400 blocks of
# 50 benign rows as calibration, alpha .001. Prints: one line for each attack (AUC, rows asked, row of the alarm of all and of each
# statistic, share of the rows that were answered by then); the same rows diluted, shuffled, after a benign past, from several
# accounts; and 200 benign streams of 2,000 rows, each with a calibration of its own. Results: docs/RESULTS.md.
# Needs python3 with numpy, and Debian's dataset-fashion-mnist (IMAGES: its folder).
# usage: experiments/monitor.sh FOLDER [attacks|variants|benign]...
#   SOTTO (sotto), STREAMS (200). What is there is kept: a killed experiment goes on.
set -euo pipefail
sotto=${SOTTO:-sotto} streams=${STREAMS:-200} images=${IMAGES:-/usr/share/datasets/fashion-mnist}
here=$(cd "$(dirname "$0")" && pwd)
out=$1
shift
[ $# -gt 0 ] || set -- attacks variants benign
mkdir -p "$out"
python() { python3 "$here/monitor/streams.py" "$@"; }

[ -e "$out/few-nonmember-labels.npy" ] || python data "$out" "$images/train-images-idx3-ubyte.gz" "$images/train-labels-idx1-ubyte.gz"
[ -e "$out/target.safetensors" ] || "$sotto" head --features "$out/member.npy" --labels "$out/member-labels.npy" --hidden 128 --epochs 200 \
  --seed 1 --threads 1 --quiet -o "$out/target.safetensors"
[ -e "$out/target.npz" ] || python layers "$out/target.safetensors" "$out/target.npz"
[ -e "$out/calibration-0.npy" ] || python benign "$out" 0

judge() { "$sotto" monitor "$@" --calibration "$out/calibration-0.npy" --calibration-answers "$out/calibration-0-answers.npy" --bank "$out/bank.npy" --training "$out/member.npy" --quiet; }
# attack NAME RECORDS OPTIONS...: RECORDS few- or nothing
attack() {
  local name=$1 few=$2
  shift 2
  if [ ! -e "$out/$name.json" ]; then
    rm -rf "$out/$name.log" "${out:?}/$name"
    "$sotto" attack "$name" --target-command "'$sotto' monitor --calibration '$out/calibration-0.npy' \
      --calibration-answers '$out/calibration-0-answers.npy' --bank '$out/bank.npy' --training '$out/member.npy' --quiet --log '$out/$name.log' \
      -- python3 '$here/../examples/serve_numpy.py' '$out/target.npz'" --classes 10 \
      --member-features "$out/${few}member.npy" --member-labels "$out/${few}member-labels.npy" \
      --nonmember-features "$out/${few}nonmember.npy" --nonmember-labels "$out/${few}nonmember-labels.npy" \
      --attacker-features "$out/attacker.npy" --attacker-labels "$out/attacker-labels.npy" --trainer adam --hidden 128 --epochs 200 \
      --seed 1 --threads 1 --quiet "$@" -o "$out/$name" > /dev/null
    judge "$out/$name.log" --output "$out/$name.json" > /dev/null
  fi
  python row "$out" "$name"
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
