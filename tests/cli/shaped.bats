#!/usr/bin/env bats
# What shaped the columns meets the records that are charged, at every door: overlap within one identity is refused, before anything is
# charged; what is unknown, or of another identity, is a condition of the certificate; disjoint rows of one import are proved.

bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_TMPDIR" || exit 1
  export SOTTO_DATA_DIR=$PWD/data XDG_DATA_HOME=$PWD/home
}

charges() { cat home/sotto/ledger/*.jsonl 2> /dev/null | grep -c '"event":"re[ls]e' || true; }
refused() { # TEXT COMMAND...: nothing is charged
  local text=$1 before
  before=$(charges)
  shift
  run "$SOTTO" "$@"
  [ "$status" -eq 65 ] || { echo "status $status: $output"; false; }
  [[ $output == *"$text"* ]] || { echo "$output"; false; }
  [ "$(charges)" -eq "$before" ]
}
conditional_on() { # TEXT CERTIFICATE
  grep -q '"guarantee": "conditional"\|conditional on' "$2" || { cat "$2"; false; }
  grep -qF "$1" "$2" || { cat "$2"; false; }
}
proved() { run -1 grep -F 'conditional on' "$1"; }

people() { # FILE: 120 rows
  { echo "age,job,ill"
    for i in $(seq 0 119); do echo "$((i % 90)),$([ $((i % 3)) = 0 ] && echo cook || echo nurse),$([ $((i % 2)) = 0 ] && echo yes || echo no)"; done; } > "$1"
}
head_on() { # FOLDER PART...
  local folder=$1 part=$2
  shift 2
  head_args=(head --features "$folder/$part-features.npy" --labels "$folder/$part-labels.npy" --classes 2 --trainer dp-gd --steps 5 --epsilon 1 --delta 1e-4 --quiet "$@")
}

@test "an encoding that was fitted on the private rows is refused, one of other rows is proved" {
  people people.csv
  "$SOTTO" data import people.csv --name people --dataset-id people --quiet
  "$SOTTO" data split people --parts train=60,test=60 --one-hot --fit-on train -o q --quiet
  head_on q train -o h.safetensors
  refused "the encoding of part train was made from row " "${head_args[@]}"
  [ ! -e h.safetensors ]
  head_on q test -o h.safetensors
  "$SOTTO" "${head_args[@]}"
  proved h.safetensors.certificate.json
  # through another verb, and through what a head was trained on
  refused "the encoding of part train was made from row " protect --records q/train-features.npy --clip 1 --epsilon 1 --delta 1e-4 -o r.npy
  "$SOTTO" head --features q/train-features.npy --labels q/train-labels.npy --classes 2 --trainer convex --lambda 0.1 --clip 2 --quiet -o convex.safetensors
  refused "the encoding of part train was made from row " protect --head convex.safetensors --epsilon 1 --delta 1e-4 -o p.safetensors
}

@test "an encoding of a second import under the same identity is refused, of another one it is a condition" {
  people people.csv
  "$SOTTO" data import people.csv --name people --dataset-id people --quiet
  "$SOTTO" data import people.csv --name again --dataset-id people --quiet
  "$SOTTO" data import people.csv --name others --dataset-id others --quiet
  "$SOTTO" data split people --parts train=60 --one-hot --fit-table again -o q --quiet
  head_on q train -o h.safetensors
  refused "the encoding of table again was made from records of 'people'" "${head_args[@]}"
  "$SOTTO" data split people --parts train=60 --one-hot --fit-table others -o r --quiet
  head_on r train -o h.safetensors
  "$SOTTO" "${head_args[@]}"
  conditional_on "the encoding of table others does not depend on these records" h.safetensors.certificate.json
  refused_now() { run "$SOTTO" "${head_args[@]}" --same-people-as others; [ "$status" -ne 0 ]; }
  refused_now
}
