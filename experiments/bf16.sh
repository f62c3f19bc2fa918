#!/usr/bin/env bash
# Does training in bf16 cost accuracy? Five pairs of runs (seeds 0 to 4) of each network on $DATA, f32 (backend winograd) and
# bf16 (backend $BF16) with the same seed, order and augmentation; test accuracy, the difference bf16 - f32 and its 95 % t-interval.
#   resnet8, cnn   'sotto train', $EPOCHS (2) epochs with the rate falling to 0 by a cosine: at a constant rate the last steps alone
#                  move the accuracy by several points
#   probe          the keras-simclr encoder, $EPOCHS epochs of SimCLR, then a linear head on its embeddings of the training part
# The last line of each says whether the interval lies above -.01. Results: notes/results.md.
# usage: experiments/bf16.sh FOLDER [resnet8|cnn|probe]...
#   SOTTO (sotto), THREADS (1), EPOCHS (2), BF16 (dnnl; or winograd), DATA (fashion-mnist; cifar10, or an imported set).
#   Finished runs are kept: a killed experiment goes on; another FOLDER for other data or another backend.
set -euo pipefail
sotto=${SOTTO:-sotto} threads=${THREADS:-1} epochs=${EPOCHS:-2} bf16=${BF16:-dnnl} data=${DATA:-fashion-mnist}
out=$1
shift
[ $# -gt 0 ] || set -- resnet8 cnn probe
mkdir -p "$out"

# quietly COMMAND...: the program; its output and progress only where it fails
quietly() { "$sotto" "$@" --threads "$threads" > "$out/log" 2>&1 || { cat "$out/log" >&2; exit 1; }; }

# embed NAME PART: $out/NAME-PART.npy and the labels of that part, from the encoder $out/NAME.safetensors
embed() {
  quietly embed --encoder "$out/$1.safetensors" --data "$data" --split "$2" --labels-out "$out/$2-labels.npy" -o "$out/$1-$2.npy"
}

# measure NAME OPTIONS...: writes the accuracy on the test part to $out/NAME.accuracy
measure() {
  local name=$1
  shift
  "$sotto" predict "$@" --labels "$out/test-labels.npy" --threads "$threads" --quiet --json |
    grep -o '"estimate": [0-9.]*' | grep -o '[0-9.]*$' > "$out/$name.part"
  mv "$out/$name.part" "$out/$name.accuracy"
}

# network NAME MODEL SEED OPTIONS...
network() {
  local name=$1 model=$2 seed=$3
  shift 3
  quietly train --data "$data" --split train --model "$model" --epochs "$epochs" --schedule cosine --seed "$seed" "$@" \
    -o "$out/$name.safetensors"
  measure "$name" --model "$out/$name.safetensors" --data "$data" --split test
}

# probe NAME SEED OPTIONS...
probe() {
  local name=$1 seed=$2
  shift 2
  quietly pretrain --data "$data" --split train --encoder keras-simclr --epochs "$epochs" --schedule cosine --seed "$seed" "$@" \
    -o "$out/$name.safetensors"
  embed "$name" train
  embed "$name" test
  quietly head --features "$out/$name-train.npy" --labels "$out/train-labels.npy" --batch 106 --seed "$seed" -o "$out/$name-head.safetensors"
  measure "$name" --head "$out/$name-head.safetensors" --features "$out/$name-test.npy"
  rm "$out/$name-train.npy" "$out/$name-test.npy"
}

# summary: of lines 'f32 bf16', one for each seed. 2.776: t with 4 degrees of freedom
summary() {
  awk '{ d[NR] = $2 - $1; f += $1; b += $2; sum += d[NR] }
       END { mean = sum / NR
             for (i = 1; i <= NR; i++) square += (d[i] - mean) ^ 2
             half = 2.776 * sqrt(square / (NR - 1) / NR)
             printf "mean f32 %.4f bf16 %.4f difference %+.4f [%+.4f, %+.4f]: %s\n", f / NR, b / NR, mean, mean - half, mean + half,
                    (mean - half > -.01 ? "above -.01" : "NOT above -.01") }'
}

if [ ! -e "$out/test-labels.npy" ]; then # 'embed' writes labels beside features, which are not needed here
  quietly embed --encoder scattering --grid 1 --data "$data" --split test --labels-out "$out/test-labels.npy" -o "$out/ignored.npy"
  rm "$out/ignored.npy"
fi
for what; do
  case $what in
    resnet8 | cnn) run=(network "$what") ;;
    probe) run=(probe) ;;
    *) echo "bf16.sh: unknown experiment '$what'; expected resnet8, cnn or probe" >&2; exit 64 ;;
  esac
  for seed in 0 1 2 3 4; do
    for dtype in f32 bf16; do
      name=$what-$dtype-$seed backend=$bf16
      [ $dtype = bf16 ] || backend=winograd
      [ -e "$out/$name.accuracy" ] || "${run[0]}" "$name" "${run[@]:1}" "$seed" --dtype $dtype --backend $backend
    done
    echo "$what seed $seed: f32 $(cat "$out/$what-f32-$seed.accuracy") bf16 $(cat "$out/$what-bf16-$seed.accuracy")"
  done | tee "$out/$what.txt"
  echo "$what: $(sed 's/.*f32 \(.*\) bf16 /\1 /' "$out/$what.txt" | summary)"
done
