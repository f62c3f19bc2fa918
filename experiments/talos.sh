#!/usr/bin/env bash
# "Quantifying and Mitigating Privacy Risks of Contrastive Learning" (He & Zhang, CCS 2021), scaled to minutes on 2 cores: one step for each
# group of its figures. The data is a stand-in (synthetic-faces: hair as the task, one of five families as the attribute; or cifar10-kinds)
# and small, so claims are about directions, not about the paper's numbers.
#   models       contrastive and supervised encoders of one network, each with a shadow trained alike; linear heads   (Figs. 3, 12: utility)
#   attribute    an attacker of embeddings, 10 .. 90 % of his records, networks of 3 .. 6 layers              (Figs. 8, 10, 11, 18, 19: T1-T3)
#   sizes        the same on encoders of 64 (resnet8), 128 (keras-simclr) and 512 (resnet18) numbers                              (T4; slow)
#   membership   thresholds and a shadow's attack network on the heads' answers; EncoderMI on the encoders        (Figs. 4-7, 20-24: T5, T7)
#   talos        lambda .5 .. 10: utility, attribute, membership with shadows trained by Talos too (adaptive)     (Figs. 12-17: T6, T7)
#   baselines    Olympus and AttriGuard on embeddings, MemGuard on posteriors, attacked adaptively                   (Figs. 12-14: T8)
#   joint        all of them on three axes at once: sotto compare, report.html with the Pareto front
# Whoever choses lambda does it by the attribute attacker of step `talos`, who trains afresh on the embeddings and is stronger than the
# classifier that Talos trained against; that classifier's own accuracy (metrics.jsonl) says nothing.
# A killed run goes on: finished files are kept, training resumes from its checkpoint.
# usage: experiments/talos.sh FOLDER [STEP]...      (default: models attribute membership talos baselines joint)
#        SOTTO: the program. SET, RECORDS (of each quarter), EPOCHS, SEED, LAMBDAS, ENCODER, THREADS, BATCH, ALTERNATION: see below
set -euo pipefail
sotto=${SOTTO:-sotto}
set=${SET:-synthetic-faces} n=${RECORDS:-1500} epochs=${EPOCHS:-30} seed=${SEED:-1}
lambdas=${LAMBDAS:-0.5 1 2 5 10} encoder=${ENCODER:-keras-simclr} threads=${THREADS:-2} batch=${BATCH:-128} alternation=${ALTERNATION:-odd-even}
out=$1
shift
[ $# -gt 0 ] || set -- models attribute membership talos baselines joint
quiet=(--threads "$threads" --quiet)

# npy FILE TYPE SHAPE: an array whose bytes come in on stdin
npy() {
  local header="{'descr': '$2', 'fortran_order': False, 'shape': $3, }"
  { printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header"; cat; } > "$1.part"
  mv "$1.part" "$1"
}
# rows FILE FROM COUNT: so many of the numbers in an .npy of sotto's
rows() { tail -c +$((129 + 8 * $2)) "$1" | head -c $((8 * $3)) || true; }
quarters() {
  [ -e "$out/shadow-trained.npy" ] && return
  "$sotto" data split "$set" --parts "train=$n,test=$n,shadow=$((2 * n))" --seed "$seed" -o "$out" "${quiet[@]}" > /dev/null
  rm "$out"/*-features.npy
  rows "$out/shadow-rows.npy" 0 "$n" | npy "$out/shadow-in-rows.npy" '<i8' "($n,)"
  rows "$out/shadow-rows.npy" "$n" "$n" | npy "$out/shadow-out-rows.npy" '<i8' "($n,)"
  { head -c "$n" /dev/zero | tr '\0' '\1'; head -c "$n" /dev/zero; } | npy "$out/shadow-trained.npy" '|u1' "($((2 * n)),)"
}

# encode NAME SIDE NETWORK: an encoder on the rows of a side (train, or shadow-in)
encode() {
  local file=$out/$1-$2.safetensors own=$seed lambda=${1#talos-}
  [ "$2" = train ] || own=$((seed + 100))
  local shared=(--data "$set" --indices "$out/$2-rows.npy" --seed "$own" "${quiet[@]}")
  [ -e "$file" ] && return
  case $1 in
    supervised*) "$sotto" train "${shared[@]}" --model "$3" --epochs "$epochs" --batch 64 --flip -o "$file" > /dev/null ;;
    talos-*) "$sotto" pretrain "${shared[@]}" --encoder "$3" --talos --lambda "$lambda" --alternation "$alternation" \
      --epochs $([ "$alternation" = odd-even ] && echo $((2 * epochs)) || echo "$epochs") --batch "$batch" --metrics "$out/$1-$2.jsonl" -o "$file" > /dev/null ;;
    *) "$sotto" pretrain "${shared[@]}" --encoder "$3" --epochs "$epochs" --batch "$batch" -o "$file" > /dev/null ;;
  esac
}

# embed NAME SIDE PART: PART's embeddings by that encoder (train, test; shadow)
embed() {
  [ -e "$out/$1-$3-x.npy" ] || "$sotto" embed --encoder "$out/$1-$2.safetensors" --data "$set" --indices "$out/$3-rows.npy" -o "$out/$1-$3-x.npy" "${quiet[@]}" > /dev/null 2>&1
}

# model NAME [NETWORK]: encoder and linear head, its shadow's too, and all answers
model() {
  local name=$1 net=${2:-$encoder} part
  encode "$name" train "$net"
  encode "$name" shadow-in "$net"
  embed "$name" train train
  embed "$name" train test
  embed "$name" shadow-in shadow
  [ -e "$out/$name-head.safetensors" ] || "$sotto" head --features "$out/$name-train-x.npy" --labels "$out/train-labels.npy" --epochs 100 --batch 64 --lr 0.003 \
    --seed "$seed" "${quiet[@]}" -o "$out/$name-head.safetensors" > /dev/null
  [ -e "$out/positions.npy" ] || rows_upto "$n" | npy "$out/positions.npy" '<i8' "($n,)"
  [ -e "$out/$name-shadow-head.safetensors" ] || "$sotto" head --features "$out/$name-shadow-x.npy" --labels "$out/shadow-labels.npy" --indices "$out/positions.npy" \
    --epochs 100 --batch 64 --lr 0.003 --seed $((seed + 100)) "${quiet[@]}" -o "$out/$name-shadow-head.safetensors" > /dev/null
  for part in train test; do
    [ -e "$out/$name-$part-z.npy" ] || "$sotto" predict --head "$out/$name-head.safetensors" --features "$out/$name-$part-x.npy" --logits -o "$out/$name-$part-z.npy" > /dev/null
  done
  [ -e "$out/$name-shadow-z.npy" ] || "$sotto" predict --head "$out/$name-shadow-head.safetensors" --features "$out/$name-shadow-x.npy" --logits \
    -o "$out/$name-shadow-z.npy" > /dev/null
}
# rows_upto N: 0 .. N-1 as little-endian 64-bit numbers
rows_upto() {
  local i
  for ((i = 0; i < $1; i++)); do printf "\\x$(printf %02x $((i & 255)))\\x$(printf %02x $((i >> 8 & 255)))\\x$(printf %02x $((i >> 16)))\\0\\0\\0\\0\\0"; done
}

# attribute NAME [FLAGS]: an attacker who knows the attribute of all that trained the encoder, tested on the quarter that did not
attribute() {
  local name=$1 to=$out/$1-attribute.json
  shift
  [ -e "$to" ] || {
    "$sotto" audit --features "$out/$name-train-x.npy" --attribute "$out/train-attribute.npy" --attribute-labels "$out/train-labels.npy" \
      --attribute-test-features "$out/$name-test-x.npy" --attribute-test "$out/test-attribute.npy" --attribute-test-labels "$out/test-labels.npy" \
      "$@" --seed "$seed" "${quiet[@]}" --json > "$to.part"
    mv "$to.part" "$to"
  }
}
# membership NAME [SHADOW]: of the head's records, by its answers; the shadow is of the same kind (adaptive)
membership() {
  local to=$out/$1-membership.json by=${2:-$1}
  [ -e "$to" ] || {
    "$sotto" audit --member-logits "$out/$1-train-z.npy" --nonmember-logits "$out/$1-test-z.npy" --member-labels "$out/train-labels.npy" \
      --nonmember-labels "$out/test-labels.npy" --shadow-logits "$out/$by-shadow-z.npy" --shadow-labels "$out/shadow-labels.npy" \
      --shadow-trained "$out/shadow-trained.npy" --seed "$seed" "${quiet[@]}" --json > "$to.part" 2> /dev/null
    mv "$to.part" "$to"
  }
}
# encoder_membership NAME: who pre-trained the encoder
encoder_membership() {
  local to=$out/$1-encoder.json
  [ -e "$to" ] || {
    "$sotto" attack encoder --encoder "$out/$1-train.safetensors" --shadow-encoder "$out/$1-shadow-in.safetensors" --data "$set" \
      --member-indices "$out/train-rows.npy" --nonmember-indices "$out/test-rows.npy" --shadow-member-indices "$out/shadow-in-rows.npy" \
      --shadow-nonmember-indices "$out/shadow-out-rows.npy" --seed "$seed" "${quiet[@]}" --json > "$to.part" 2> /dev/null
    mv "$to.part" "$to"
  }
}

# baseline NAME: a defence of the contrastive encoder's embeddings; its defender knows what trained the encoder. The attribute attacker is
# taught and tested on defended embeddings, the shadow of the membership attacker is defended too (adaptive). One head on what it makes.
baseline() {
  local name=$1 part
  [ -e "$out/$name-done" ] || {
    rm -rf "$out/$name"
    "$sotto" defend "$name" --known "$out/contrastive-train-x.npy:$out/train-attribute.npy" --known-labels "$out/train-labels.npy" --input "$out/contrastive-train-x.npy" \
      --input "$out/contrastive-test-x.npy" --seed "$seed" "${quiet[@]}" -o "$out/$name" > /dev/null
    rm -rf "$out/$name-shadow"
    mkdir "$out/$name-shadow"
    "$sotto" defend "$name" --known "$out/contrastive-shadow-x.npy:$out/shadow-attribute.npy" --known-labels "$out/shadow-labels.npy" \
      --input "$out/contrastive-shadow-x.npy" --seed $((seed + 100)) "${quiet[@]}" -o "$out/$name-shadow/x.npy" > /dev/null
    for part in train test; do cp "$out/$name/contrastive-$part-x.npy" "$out/$name-$part-x.npy"; done
    cp "$out/$name-shadow/x.npy" "$out/$name-shadow-x.npy"
    touch "$out/$name-done"
  }
  for part in train shadow-in; do [ -e "$out/$name-$part.safetensors" ] || cp "$out/contrastive-$part.safetensors" "$out/$name-$part.safetensors"; done
  cp -n "$out/contrastive-encoder.json" "$out/$name-encoder.json" 2> /dev/null || true # the encoder is the same
  model "$name"
  attribute "$name"
  membership "$name"
  row "$name"
}
# MemGuard moves the head's answers; embeddings, and so the attribute, stay as they are. The defender knows the members and the shadow's
# outsiders; the attacker's shadow is defended alike.
memguard() {
  local name=memguard part
  [ -e "$out/memguard-done" ] || {
    for part in train test shadow; do
      "$sotto" predict --head "$out/contrastive-$([ $part = shadow ] && echo shadow-)head.safetensors" --features "$out/contrastive-$part-x.npy" -o "$out/memguard-$part-p.npy" > /dev/null
    done
    "$sotto" defend memguard --known "$out/memguard-shadow-p.npy:$out/shadow-trained.npy" --input "$out/memguard-train-p.npy" --input "$out/memguard-test-p.npy" \
      --input "$out/memguard-shadow-p.npy" --seed "$seed" "${quiet[@]}" -o "$out/memguard" > /dev/null
    touch "$out/memguard-done"
  }
  [ -e "$out/memguard-membership.json" ] || {
    "$sotto" audit --member-probabilities "$out/memguard/memguard-train-p.npy" --nonmember-probabilities "$out/memguard/memguard-test-p.npy" \
      --member-labels "$out/train-labels.npy" --nonmember-labels "$out/test-labels.npy" --shadow-probabilities "$out/memguard/memguard-shadow-p.npy" \
      --shadow-labels "$out/shadow-labels.npy" --shadow-trained "$out/shadow-trained.npy" --seed "$seed" "${quiet[@]}" --json > "$out/part" 2> /dev/null
    mv "$out/part" "$out/memguard-membership.json"
  }
  for part in attribute encoder; do cp -n "$out/contrastive-$part.json" "$out/memguard-$part.json" 2> /dev/null || true; done
  row memguard
}

# number FILE PATTERN: what stands behind the first match; estimate FILE KEY: that number with its interval
number() { grep -o "$2[-0-9.e]*" "$1" | head -n 1 | grep -o '[-0-9.e]*$'; }
estimate() {
  local e="$2{\"estimate\":" v='[-0-9.e]*'
  printf '%.3f [%.3f, %.3f]' "$(number "$1" "$e")" "$(number "$1" "$e$v,\"lower\":")" "$(number "$1" "$e$v,\"lower\":$v,\"upper\":")"
}
# row NAME: one line of a table
row() {
  printf '%-13s' "$1"
  printf ' task %s' "$(estimate "$out/$1-membership.json" '"nonmember":')"
  printf '  attribute: accuracy %s' "$(estimate "$out/$1-attribute.json" '"attack":{"name":"[^"]*","accuracy":')"
  printf ' balanced %s' "$(sed 's/.*"attack":{//' "$out/$1-attribute.json" > "$out/part" && estimate "$out/part" '"balanced_accuracy":')"
  for a in shadow-network modified-entropy loss; do
    sed 's/.*"attacks":\[//; s/{"name":"/\n&/g' "$out/$1-membership.json" | grep "^{\"name\":\"$a\"" > "$out/part" || continue
    printf '  %s AUC %s' "$a" "$(estimate "$out/part" '"auc":')"
  done
  if [ -e "$out/$1-encoder.json" ]; then
    sed 's/.*"attacks":\[//; s/{"name":"/\n&/g' "$out/$1-encoder.json" | grep '^{"name":"encoder-mi-vector"' > "$out/part"
    printf '  encoder-mi AUC %s' "$(estimate "$out/part" '"auc":')"
  fi
  printf '\n'
  rm -f "$out/part"
}

mkdir -p "$out"
quarters
for step; do
  case $step in
    models) for m in contrastive supervised; do model $m; done ;;
    attribute)
      for m in contrastive supervised; do
        model $m
        attribute $m --attribute-depth 6
        echo "$m: $(grep -o '"learning_curve":.*"depths"' "$out/$m-attribute.json" | grep -o '"estimate":[0-9.]*' | cut -c12-16 | tr '\n' ' ')with 10 .. 90 % of $n records"
        echo "$m: $(grep -o '"depths":.*"attack"' "$out/$m-attribute.json" | grep -o '"layers":[3-6],"accuracy":{"estimate":[0-9.]*' | sed 's/.*estimate"://' | cut -c1-5 | tr '\n' ' ')by 3 .. 6 layers"
      done ;;
    sizes)
      for m in contrastive supervised; do
        for net in resnet8 keras-simclr resnet18; do
          model "$m-$net" "$net"
          membership "$m-$net"
          attribute "$m-$net"
          row "$m-$net"
        done
      done ;;
    membership)
      for m in contrastive supervised; do
        model $m
        attribute $m --attribute-depth 6
        membership $m
        encoder_membership $m
        row $m
      done ;;
    talos)
      for l in $lambdas; do
        model "talos-$l"
        attribute "talos-$l"
        membership "talos-$l"
        encoder_membership "talos-$l"
        row "talos-$l"
      done ;;
    baselines)
      model contrastive
      membership contrastive
      baseline olympus
      baseline attriguard
      memguard ;;
    joint)
      compared=()
      for m in contrastive supervised $(printf 'talos-%s ' $lambdas) olympus attriguard memguard; do
        files=
        for part in membership encoder attribute; do [ ! -e "$out/$m-$part.json" ] || files+=,$out/$m-$part.json; done
        [ -z "$files" ] || compared+=(--model "$m=${files#,}")
      done
      "$sotto" compare "${compared[@]}" --title "Talos and others on $set, $n images" -o "$out/joint" ;;
    *) echo "unknown step '$step'" >&2; exit 64 ;;
  esac
done
