#!/usr/bin/env bats
# shards: 3
# Every trainer that ends in a certificate, on neighbouring FILES: whatever one record is, the program prints the same, ends in the
# same way and writes files of the same names, sizes, shapes and facts; only noisy values and random names differ. To see a failure,
# give SOTTO a program with a known leak.

load ../support/npy

# numbers as little-endian float64
f8() {
  for v; do
    case $v in
      0) printf '\0\0\0\0\0\0\0\0' ;; 0.5) printf '\0\0\0\0\0\0\xe0\x3f' ;; 1) printf '\0\0\0\0\0\0\xf0\x3f' ;;
      2) printf '\0\0\0\0\0\0\0\x40' ;; 9) printf '\0\0\0\0\0\0\x22\x40' ;; -1) printf '\0\0\0\0\0\0\xf0\xbf' ;;
      1e30) printf '\xea\x8c\xa0\x39\x59\x3e\x29\x46' ;; nan) printf '\0\0\0\0\0\0\xf8\x7f' ;; inf) printf '\0\0\0\0\0\0\xf0\x7f' ;;
    esac
  done
}

# set_of NAME BASE LAST LABEL: 24 records of 3 columns, X.npy and y.npy in folder NAME; the last record and its label are those given.
# BASE base: classes 0 and 1 of 3, each near a place of its own; flat: all records are the same, and of class 0.
set_of() {
  local i x=() y=()
  for ((i = 0; i < 23; i++)); do
    if [ "$2" = flat ]; then x+=(1 1 1) y+=(0); else x+=($((i % 2)) $((2 - i % 2)) $((i % 3 - 1))) y+=($((i % 2))); fi
  done
  mkdir -p "$1"
  f8 "${x[@]}" $3 | npy "$1/X.npy" '<f8' '24, 3'
  printf '%b' "$(printf '\\x%02x' "${y[@]}" $(($4 & 255)))" | npy "$1/y.npy" '|i1' '24,'
}

# What does not depend on noise: hashes, times and names of runs out, and statistics of noisy tensors.
facts='/"event":"records"/s/[0-9a-f]{16}/DIGITS/g; s/[0-9a-f]{64}/HASH/g; s/[0-9a-f]{32}/RUN/g; s/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z/TIME/g; s/ +min .*//'
# outcome FOLDER COMMAND...: what it printed, how it ended, and what it left behind, in FOLDER.outcome
outcome() {
  local folder=$1 code=0 f
  shift
  rm -rf "$folder.home/sotto/ledger" "$folder"/{h,p,m}.* "$folder/l.jsonl"
  (cd "$folder" && XDG_DATA_HOME="$PWD.home" exec "$@") > "$folder/out" 2> "$folder/err" || code=$?
  {
    echo "exit $code"
    cat "$folder"/{out,err} "$folder"/*.certificate.json "$folder/l.jsonl"
    (cd "$folder" && exec wc -c -- *)
    for f in "$folder"/*.safetensors; do "$SOTTO" inspect "$f"; done
  } 2>&1 | sed -E "s|$folder||; $facts" > "$folder.outcome"
}
# same COMMAND...: every neighbour of a base has its outcome, and the command succeeds on it
same() {
  local base n
  for base in base flat; do
    [ -d $base ] || continue
    outcome $base "$@"
    head -n 1 $base.outcome | grep -qx "exit 0" || { echo "$base: $*"; cat $base.outcome; return 1; }
    for n in $base-*; do
      [ -d "$n" ] && [[ $n != *.* ]] || continue
      outcome "$n" "$@"
      diff $base.outcome "$n.outcome" || { echo "$n: $*"; return 1; }
    done
  done
}

setup_file() {
  cd "$BATS_FILE_TMPDIR" || return 1
  set_of base base "1 1 1" 1
  set_of base-absent base "1 1 1" 2
  set_of base-beyond base "1 1 1" 9
  set_of base-below base "1 1 1" -1
  set_of base-large base "1 1e30 1" 1
  set_of base-nan base "1 nan 1" 1
  set_of base-duplicate base "0 2 -1" 0
  set_of base-replaced base "2 -1 9" 0
  set_of flat flat "1 1 1" 0
  set_of flat-cell flat "1 2 1" 0
  set_of flat-both flat "0 2 0.5" 2
}
setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  cp -r "$BATS_FILE_TMPDIR"/{base,flat}* .
}
head_of() { same "$SOTTO" head --features X.npy --labels y.npy --classes 3 --dataset-id toy --ledger l.jsonl -o h.safetensors --delta 1e-3 --noise-multiplier 12 "$@"; } # much noise: its account takes little time

@test "heads by DP-SGD print the same for neighbouring data" {
  head_of --trainer dp-sgd --batch 4 --epochs 2
  head_of --trainer dp-adam --batch 4 --epochs 1 --hidden 3 --sampling fixed --json
  head_of --trainer dp-gd --steps 20
  head_of --trainer objective
}

@test "heads from one noisy release print the same for neighbouring data" {
  for trainer in covariance functional functional-linear taylor; do head_of --trainer $trainer; done
}

@test "a head of 3 classes does not ask for 3 records, nor for each class" {
  npy few.npy '<i8' '2,' < <(printf '\x01\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0')
  for d in base base-* flat flat-*; do cp few.npy "$d"; done
  head_of --trainer covariance --indices few.npy
}

@test "protected convex heads print the same for neighbouring data" {
  for trainer in "convex --steps 20" "convex-sgd --epochs 2 --batch 8" convex-lbfgs; do
    same sh -c "'$SOTTO' head --features X.npy --labels y.npy --classes 3 --trainer $trainer -o h.safetensors && \
      '$SOTTO' protect --head h.safetensors --mechanism gaussian --epsilon 1 --delta 1e-3 --dataset-id toy --ledger l.jsonl -o p.safetensors && rm h.safetensors"
  done
}

# Networks take imported sets: the import checks for whole-number labels and finite cells.
import() { # FOLDER LABEL of record 0: the records of FOLDER as the set toy
  rm -rf "$1.home" "$1.set"
  mkdir -p "$1.set"
  cp "$1/$values.npy" "$1.set"
  { printf "\\x0$2"; for i in {1..23}; do printf "\\x0$((i % 2))"; done; } | npy "$1.set/labels.npy" '|u1' '24,'
  local id=(--dataset-id toy)
  [[ "$("$SOTTO" data --help all)" == *--dataset-id* ]] || id=() # a program that knows no identity
  XDG_DATA_HOME="$PWD/$1.home" "$SOTTO" data import "$1.set" --name toy "${id[@]}" --quiet > /dev/null
}
train_of() { same "$SOTTO" train --data toy "${classes[@]}" --batch 4 --epochs 1 --threads 1 --dataset-id toy --ledger l.jsonl -o m.safetensors "$@"; }

@test "train --dp-sgd prints the same for neighbouring data" {
  classes=(--classes 3)
  [[ "$("$SOTTO" train --help all)" == *--classes* ]] || classes=() # a program that reads them off the labels
  values=features
  rm -rf flat flat-* base-nan base-half
  for d in base base-*; do mv $d/X.npy $d/features.npy; import $d 0; done
  import base-absent 2
  import base-beyond 9
  train_of --model mlp --hidden 4 --dp-sgd --noise-multiplier 12
  train_of --model mlp --hidden 4 --dp-sgd --noise-multiplier 12 --clipping quantile --json
}

@test "train --certify-inputs prints the same for neighbouring data" {
  classes=(--classes 3)
  [[ "$("$SOTTO" train --help all)" == *--classes* ]] || classes=() # a program that reads them off the labels
  values=images
  rm -rf flat flat-* base base-*
  mkdir -p base base-absent base-bright base-duplicate
  for d in base base-*; do
    case $d in base-bright) last=255 ;; base-duplicate) last=0 ;; *) last=23 ;; esac
    { for i in {0..22} $last; do printf -v pixel '\\x%02x' $i; printf "$pixel%.0s" {1..64}; done; } | npy $d/images.npy '|u1' '24, 1, 8, 8'
    import $d 0
  done
  import base-absent 2
  train_of --model resnet8 --certify-inputs --radius 3 --input-noise 2
  train_of --model resnet8 --certify-inputs --radius 3 --input-noise 2 --label-epsilon 1
}
