# shellcheck shell=bash
# What the figures' files (figNN-*.sh) and ../talos.sh share: data, models, attacks and defences, each made once in FOLDER, and lines of a
# table. Sourced with FOLDER as the first argument. A killed run goes on: finished files are kept, training resumes from its checkpoint. Another
# setting that changes a model needs another FOLDER.
#   SOTTO       the program [sotto]            SET, RECORDS   data and records of each quarter [synthetic-faces, 1500]
#   EPOCHS      epochs of the encoder; under Talos its classifier is trained for as many more [30]              SEED [1], THREADS [2], BATCH [128]
#   ENCODER     network [keras-simclr]         PRETRAIN       more options of 'sotto pretrain' for all contrastive models
#   TALOS       models with Talos: talos-LAMBDA as published, bounded-LAMBDA with --bounded, joint-LAMBDA bounded and with a classifier that
#               reads the images themselves and learns in every step, ADVERSARY_STEPS [10] times on each batch [bounded-1 bounded-5 talos-1]
#   ALTERNATION order of updates under Talos [odd-even, as published; joint-LAMBDA: joint]                     QUERIES of label-only attacks, per record [300]
set -euo pipefail
sotto=${SOTTO:-sotto}
set=${SET:-synthetic-faces} n=${RECORDS:-1500} epochs=${EPOCHS:-30} seed=${SEED:-1}
encoder=${ENCODER:-keras-simclr} threads=${THREADS:-2} batch=${BATCH:-128} alternation=${ALTERNATION:-odd-even} queries=${QUERIES:-300}
read -ra pretrain <<< "${PRETRAIN:-}"
read -ra talos <<< "${TALOS:-bounded-1 bounded-5 talos-1}"
out=${1:?"usage: ${0##*/} FOLDER; settings: library.sh"}
quiet=(--threads "$threads" --quiet)

# npy FILE TYPE SHAPE: an array with its bytes on stdin
npy() {
  local header="{'descr': '$2', 'fortran_order': False, 'shape': $3, }"
  { printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header"; cat; } > "$1.part"
  mv "$1.part" "$1"
}
# rows FILE FROM COUNT: so many of the numbers in an .npy of sotto's
rows() { tail -c +$((129 + 8 * $2)) "$1" | head -c $((8 * $3)) || true; }
quarters() {
  [ -e "$out/shadow-trained.npy" ] && return
  "$sotto" data split "$set" --parts "train=$n,test=$n,shadow=$((2 * n)),bank=256" --seed "$seed" -o "$out" "${quiet[@]}" > /dev/null
  rm "$out"/*-features.npy
  rows "$out/shadow-rows.npy" 0 "$n" | npy "$out/shadow-in-rows.npy" '<i8' "($n,)"
  rows "$out/shadow-rows.npy" "$n" "$n" | npy "$out/shadow-out-rows.npy" '<i8' "($n,)"
  { head -c "$n" /dev/zero | tr '\0' '\1'; head -c "$n" /dev/zero; } | npy "$out/shadow-trained.npy" '|u1' "($((2 * n)),)"
}

# encode NAME SIDE NETWORK: an encoder on the rows of a side (train, or shadow-in)
encode() {
  local file=$out/$1-$2.safetensors own=$seed
  [ "$2" = train ] || own=$((seed + 100))
  local shared=(--data "$set" --indices "$out/$2-rows.npy" --seed "$own" "${quiet[@]}")
  [ -e "$file" ] && return
  case $1 in
    supervised*) "$sotto" train "${shared[@]}" --model "$3" --epochs "$epochs" --batch 64 --flip -o "$file" > /dev/null ;;
    talos-* | bounded-* | joint-*)
      local how=(--alternation "$alternation") walks=$epochs
      [ "$alternation" != odd-even ] || walks=$((2 * epochs))
      case $1 in
        bounded-*) how+=(--bounded) ;;
        joint-*) how=(--alternation joint --bounded --adversary-reads images --adversary-steps "${ADVERSARY_STEPS:-10}") walks=$epochs ;;
      esac
      "$sotto" pretrain "${shared[@]}" "${pretrain[@]}" --encoder "$3" --batch "$batch" --talos "${how[@]}" --lambda "${1#*-}" \
        --epochs "$walks" --metrics "$out/$1-$2.jsonl" -o "$file" > /dev/null ;;
    *) "$sotto" pretrain "${shared[@]}" "${pretrain[@]}" --encoder "$3" --epochs "$epochs" --batch "$batch" -o "$file" > /dev/null ;;
  esac
}

# embed NAME SIDE PART: PART's embeddings by that encoder (train, test; shadow)
embed() {
  [ -e "$out/$1-$3-x.npy" ] || "$sotto" embed --encoder "$out/$1-$2.safetensors" --data "$set" --indices "$out/$3-rows.npy" -o "$out/$1-$3-x.npy" "${quiet[@]}" > /dev/null 2>&1
}

# target NAME [NETWORK]: encoder and linear head, and their answers
target() {
  local name=$1 net=${2:-$encoder} part
  encode "$name" train "$net"
  embed "$name" train train
  embed "$name" train test
  [ -e "$out/$name-head.safetensors" ] || "$sotto" head --features "$out/$name-train-x.npy" --labels "$out/train-labels.npy" --epochs 100 --batch 64 --lr 0.003 \
    --seed "$seed" "${quiet[@]}" -o "$out/$name-head.safetensors" > /dev/null
  for part in train test; do
    [ -e "$out/$name-$part-z.npy" ] || "$sotto" predict --head "$out/$name-head.safetensors" --features "$out/$name-$part-x.npy" --logits -o "$out/$name-$part-z.npy" > /dev/null
  done
}
# model NAME [NETWORK]: the same, and its shadow's
model() {
  local name=$1 net=${2:-$encoder}
  target "$@"
  encode "$name" shadow-in "$net"
  embed "$name" shadow-in shadow
  [ -e "$out/positions.npy" ] || rows_upto "$n" | npy "$out/positions.npy" '<i8' "($n,)"
  [ -e "$out/$name-shadow-head.safetensors" ] || "$sotto" head --features "$out/$name-shadow-x.npy" --labels "$out/shadow-labels.npy" --indices "$out/positions.npy" \
    --epochs 100 --batch 64 --lr 0.003 --seed $((seed + 100)) "${quiet[@]}" -o "$out/$name-shadow-head.safetensors" > /dev/null
  [ -e "$out/$name-shadow-z.npy" ] || "$sotto" predict --head "$out/$name-shadow-head.safetensors" --features "$out/$name-shadow-x.npy" --logits \
    -o "$out/$name-shadow-z.npy" > /dev/null
}
# rows_upto N: 0 .. N-1 as little-endian 64-bit numbers
rows_upto() {
  local i
  for ((i = 0; i < $1; i++)); do printf "\\x$(printf %02x $((i & 255)))\\x$(printf %02x $((i >> 8 & 255)))\\x$(printf %02x $((i >> 16)))\\0\\0\\0\\0\\0"; done
}

# attribute NAME: an attacker who knows the attribute of all that trained the encoder, tested on the quarter that did not
attribute() {
  local name=$1 to=$out/$1-attribute.json
  [ -e "$to" ] || {
    "$sotto" audit --force --features "$out/$name-train-x.npy" --attribute "$out/train-attribute.npy" --attribute-labels "$out/train-labels.npy" \
      --attribute-test-features "$out/$name-test-x.npy" --attribute-test "$out/test-attribute.npy" --attribute-test-labels "$out/test-labels.npy" \
      --attribute-depth 6 --seed "$seed" "${quiet[@]}" --json > "$to.part"
    mv "$to.part" "$to"
  }
}
# membership NAME [none]: of the head's records, by its answers; the shadow is of the same kind (adaptive), none: by thresholds alone
membership() {
  local to=$out/$1-membership.json shadow=()
  [ "${2:-}" = none ] ||
    shadow=(--shadow-logits "$out/$1-shadow-z.npy" --shadow-labels "$out/shadow-labels.npy" --shadow-trained "$out/shadow-trained.npy")
  [ -e "$to" ] || {
    "$sotto" audit --force --member-logits "$out/$1-train-z.npy" --nonmember-logits "$out/$1-test-z.npy" --member-labels "$out/train-labels.npy" \
      --nonmember-labels "$out/test-labels.npy" "${shadow[@]}" --seed "$seed" "${quiet[@]}" --json > "$to.part" 2> /dev/null
    mv "$to.part" "$to"
  }
}
# label_only NAME: the same of one who sees classes only (HopSkipJump on what goes into the linear layer)
label_only() {
  local to=$out/$1-labels.json
  [ -e "$to" ] || {
    "$sotto" attack boundary --target "$out/$1-head.safetensors" --member-features "$out/$1-train-x.npy" --member-labels "$out/train-labels.npy" \
      --nonmember-features "$out/$1-test-x.npy" --nonmember-labels "$out/test-labels.npy" --attacker-features "$out/$1-shadow-x.npy" \
      --attacker-labels "$out/shadow-labels.npy" --queries "$queries" --seed "$seed" "${quiet[@]}" --json > "$to.part" 2> /dev/null
    mv "$to.part" "$to"
  }
}
# encoder_membership NAME: who pre-trained the encoder: EncoderMI, contrastive loss against a bank of strangers, norm ratio
encoder_membership() {
  local to=$out/$1-encoder.json
  [ -e "$to" ] || {
    "$sotto" attack encoder --encoder "$out/$1-train.safetensors" --shadow-encoder "$out/$1-shadow-in.safetensors" --data "$set" \
      --member-indices "$out/train-rows.npy" --nonmember-indices "$out/test-rows.npy" --shadow-member-indices "$out/shadow-in-rows.npy" \
      --shadow-nonmember-indices "$out/shadow-out-rows.npy" --bank-indices "$out/bank-rows.npy" --seed "$seed" "${quiet[@]}" --json > "$to.part" 2> /dev/null
    mv "$to.part" "$to"
  }
}

# baseline NAME: a defence of the contrastive encoder's embeddings; its defender knows what trained the encoder. The attribute attacker is
# taught and tested on defended embeddings, the shadow of the membership attacker is defended too (adaptive). One head on what it makes.
baseline() {
  local name=$1 part
  [ -e "$out/$name-done" ] || {
    rm -rf "${out:?}/$name"
    "$sotto" defend "$name" --known "$out/contrastive-train-x.npy:$out/train-attribute.npy" --known-labels "$out/train-labels.npy" --input "$out/contrastive-train-x.npy" \
      --input "$out/contrastive-test-x.npy" --seed "$seed" "${quiet[@]}" -o "$out/$name" > /dev/null
    rm -rf "${out:?}/$name-shadow"
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
  label_only "$name"
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
    "$sotto" audit --force --member-probabilities "$out/memguard/memguard-train-p.npy" --nonmember-probabilities "$out/memguard/memguard-test-p.npy" \
      --member-labels "$out/train-labels.npy" --nonmember-labels "$out/test-labels.npy" --shadow-probabilities "$out/memguard/memguard-shadow-p.npy" \
      --shadow-labels "$out/shadow-labels.npy" --shadow-trained "$out/shadow-trained.npy" --seed "$seed" "${quiet[@]}" --json > "$out/part" 2> /dev/null
    mv "$out/part" "$out/memguard-membership.json"
  }
  for part in attribute encoder labels; do cp -n "$out/contrastive-$part.json" "$out/memguard-$part.json" 2> /dev/null || true; done
}

# number FILE PATTERN: what stands behind the first match; estimate FILE KEY: that number with its interval
number() { grep -o "$2[-0-9.e]*" "$1" | head -n 1 | grep -o '[-0-9.e]*$'; }
estimate() {
  local e="$2{\"estimate\":" v='[-0-9.e]*'
  printf '%.3f [%.3f, %.3f]' "$(number "$1" "$e")" "$(number "$1" "$e$v,\"lower\":")" "$(number "$1" "$e$v,\"lower\":$v,\"upper\":")"
}
# cut FILE LIST NAME: of a JSON array of objects, the one of that name
cut_out() { sed "s/.*\"$2\":\[//; s/{\"name\":\"/\\n&/g" "$1" | grep "^{\"name\":\"$3\""; }
# put WHAT FILE KEY: a cell of a table
put() { printf '  %s %s' "$1" "$(estimate "$2" "$3")"; }

# cells of a model's line: utility, attribute, membership (NAME ATTACK...)
put_task() { put task "$out/$1-membership.json" '"nonmember":'; }
put_attribute() {
  put 'attribute: accuracy' "$out/$1-attribute.json" '"attack":{"name":"[^"]*","accuracy":'
  sed 's/.*"attack":{//' "$out/$1-attribute.json" > "$out/part"
  put balanced "$out/part" '"balanced_accuracy":'
}
put_membership() {
  local name=$1 file a
  shift
  for a; do
    file=$out/$name-membership.json
    [ "$a" != boundary ] || file=$out/$name-labels.json
    case $a in encoder-*) file=$out/$name-encoder.json ;; esac
    cut_out "$file" attacks "$a" > "$out/part" && put "$a AUC" "$out/part" '"auc":'
  done
}
# put_gap NAME: training and other records
put_gap() {
  put "$1: training" "$out/$1-membership.json" '"accuracy":{"member":'
  put 'other records' "$out/$1-membership.json" '"nonmember":'
  printf '\n'
}
# of the attribute's attacker: with 10 .. 90 % of its records; by networks of 3 .. 6 layers
put_shares() { printf '%s with 10 .. 90 %% of %s records' "$(parts "$1" learning_curve)" "$n"; }
put_depths() { printf '%s by 3 .. 6 layers' "$(parts "$1" depths)"; }
parts() {
  sed "s/.*\"$2\":\[//; s/\].*//; s/{\"layers\"/\n&/g; s/,{\"estimate\"/\n&/g" "$out/$1-attribute.json" | grep estimate | while IFS= read -r l; do
    printf '%s\n' "$l" > "$out/part"
    printf ' %s' "$(estimate "$out/part" '')"
  done
}
# line NAME CELLS [ARGUMENTS]
line() {
  printf '%-14s' "$1"
  "$2" "$1" "${@:3}"
  printf '\n'
}
row() {
  put_task "$1"
  put_attribute "$1"
  put_membership "$1" shadow-network modified-entropy boundary encoder-mi-vector encoder-contrastive
}

# everything that is measured of a model: all NAME [NETWORK]
all() {
  model "$@"
  attribute "$1"
  membership "$1"
  label_only "$1"
  encoder_membership "$1"
}
defended() { for m in olympus attriguard; do baseline "$m"; done; memguard; }

# compared NAME...: their files for 'sotto compare'; the first is the original
compared() {
  local m part files
  models=()
  for m; do
    files=
    for part in membership labels encoder attribute; do [ ! -e "$out/$m-$part.json" ] || files+=,$out/$m-$part.json; done
    [ -z "$files" ] || models+=(--model "$m=${files#,}")
  done
}
# choose: lambda by a newly trained attacker on the embeddings of each: the model with the lowest balanced accuracy of the attribute, if its other
# metrics (task, membership) are no worse than the intervals of the plain model; "none" if no model lowers it beyond its interval
choose() {
  compared contrastive "${talos[@]}"
  "$sotto" compare "${models[@]}" --title "lambda on $set, $n images" --force -o "$out/lambda"
}

mkdir -p "$out"
quarters
