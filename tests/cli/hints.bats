#!/usr/bin/env bats
# Hints about tables, followed as they are printed: the command with what its own message offers passes, and the message is gone.

bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_TMPDIR" || exit
  export SOTTO_DATA_DIR=$PWD/data XDG_DATA_HOME=$PWD/xdg
}

# helps TEXT OFFER COMMAND: the command prints TEXT and OFFER; with OFFER behind it, it passes and does not print TEXT. An offer
# that has a place for the reader's own word is followed by what is put there: "OFFER|--person patient".
helps() {
  local text=$1 offer=${2%|*} given=${2#*|}
  shift 2
  rm -rf data # each time the first import of that name
  run "$SOTTO" "$@"
  echo "$output"
  [[ $output == *"$text"* ]]
  [[ $output == *"$offer"* ]]
  rm -rf data
  eval "run \"\$SOTTO\" \"\$@\" $given"
  echo "with $given: $output"
  [ "$status" -eq 0 ]
  [[ $output != *"$text"* ]]
}
# rows COUNT FORMAT: lines of printf, with the number of the row for each %s
rows() { for ((i = 1; i <= $1; i++)); do printf "%b\n" "${2//%s/$i}"; done; }

@test "text of another encoding, decimal commas, rows of another form" {
  { echo a,b,c && rows 30 '%s,K\xf6ln,u' && rows 30 '%s,Bonn,v'; } > t.csv
  helps "is not UTF-8 text" "--encoding latin-1" data import t.csv --name t --label c
  { echo 'a;b;c' && rows 30 '%s,5;x;u' && rows 30 '%s,7;y;v'; } > t.csv
  for offer in "--decimal comma" "--types 'a=category'"; do
    helps "has decimal commas" "$offer" data import t.csv --name t --label c
  done
  helps "has decimal commas, which the schema does not state" "--decimal comma" data schema t.csv --label c --state 'a=0:100' -o t.yaml
  { echo a,b,c && rows 30 '%s,x,u' && echo 1,2 && rows 30 '%s,y,v'; } > t.csv
  helps "has 2 cells; expected 3" "--drop-bad-rows" data import t.csv --name t --label c
}

@test "cells that are no number, labels that are missing, a label that is unknown" {
  { echo a,c && rows 30 '%s.5,u' && rows 30 '%s.25,v' && echo none,u; } > t.csv
  for offer in "give --missing|--missing none" "--types a=number --drop-bad-rows" "--types a=category"; do
    helps "becomes categories because" "$offer" data import t.csv --name t --label c
  done
  helps "has no number in 1 row" "--missing|--missing none" data import t.csv --name t --label c --types a=number
  helps "has no number in 1 row" "--drop-bad-rows" data import t.csv --name t --label c --types a=number
  { echo a,b,c && rows 30 '%s,x,u' && rows 30 '%s,y,v' && echo 1,x,; } > t.csv
  helps "has no label in 1 row" "--drop-bad-rows" data import t.csv --name t --label c
  { echo a,b,c && rows 30 'p,x,u' && rows 30 'q,y,v'; } > t.csv
  for offer in "--label first" "--label last" "--label COLUMN|--label b"; do
    helps "the label among 3 columns is unknown" "$offer" data import t.csv --name t
  done
}

@test "columns that name persons or records, and those of very many values" {
  { echo patient,b,c && for ((i = 0; i < 60; i++)); do echo "$((i / 3)),x$((i % 2)),$((i % 2))"; done; } > t.csv
  for offer in "--person COLUMN --rows-per-person M|--person patient --rows-per-person 3" "--person none"; do
    helps "looks as if it named persons" "$offer" data import t.csv --name t --label c
  done
  { echo a,c && rows 60 'k%s,u' && rows 60 'l%s,v'; } > t.csv
  for offer in "--drop 'a'|--drop a" "--types 'a=category'"; do
    [[ $offer != --drop* ]] || { echo a,b,c && rows 60 'k%s,%s,u' && rows 60 'l%s,7,v'; } > t.csv
    helps "column 'a' has another value in each of 120 rows" "$offer" data import t.csv --name t --label c
  done
  { echo a,b,c && rows 60 'k%s,1,u' && rows 60 'k%s,2,v'; } > t.csv
  for offer in "--drop 'a'|--drop a" "--types 'a=category'"; do
    helps "column 'a' has 60 categories, more than 50" "$offer" data import t.csv --name t --label c
  done
}

@test "a set that is not there, and a table that needs an encoding" {
  { echo a,b,c && rows 30 '%s,x,u' && rows 30 '%s,y,v'; } > t.csv
  run "$SOTTO" data split t --parts train=40 --one-hot -o k
  [[ $output == *"run 'sotto data import PATH --name t'"* ]]
  "$SOTTO" data import t.csv --name t
  run "$SOTTO" train --data t --model mlp -o n.safetensors
  [[ $output == *"sotto data split t --one-hot --parts train=N,... -o DIR, then 'sotto head --features DIR/train-features.npy'"* ]]
  [[ $output == *"'sotto data import DIR/train-features.npy:DIR/train-labels.npy --name NAME' and 'sotto train --data NAME'"* ]]
  "$SOTTO" data split t --one-hot --parts train=50 -o DIR
  "$SOTTO" head --features DIR/train-features.npy --labels DIR/train-labels.npy -o h.safetensors
  "$SOTTO" data import DIR/train-features.npy:DIR/train-labels.npy --name made
  "$SOTTO" train --data made --model mlp --epochs 1 --batch 10 -o n.safetensors
}

@test "no hint about tables is left out here" { # by its first words; others tell of files, downloads and images
  local missed=""
  while IFS= read -r words; do
    case $words in
      "'encoding: %s' in the schema reads it as that") ;; # followed where a table goes from the file to answers
      '{encoding=%s} reads it as that' | '{decimal=comma} reads them'* | '{drop_bad_rows} leaves rows of another form out' | '{drop_bad_rows} leaves these rows out') ;;
      '{missing} names the cells that stand for no value'* | 'give {label=first}, {label=last} or {label=COLUMN}') ;;
      "{drop='%s'} leaves the column out"*) ;; # of more than 65,536 values: dropped as one of 60
      *) missed+="$words; " ;;
    esac
  done < <(cat "$BATS_TEST_DIRNAME"/../../src/learn/data/format/csv_*.c | tr -d '\n' | grep -oE 'status_hint\([^"]*"[^"]*"' | sed 's/^[^"]*"//; s/"$//')
  echo "$missed"
  [ -z "$missed" ]
}
