#!/usr/bin/env bats
# A table of a hospital as it comes, in six commands to a certified classifier and to statistics; the file is never edited.

bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_TMPDIR" || exit
  export SOTTO_DATA_DIR=$PWD/data XDG_DATA_HOME=$PWD/xdg
}

messy() { python3 "$BATS_TEST_DIRNAME/../../../../../tests/messy_csv.py" "$@" > klinik.csv; }
sotto() { run --separate-stderr "$SOTTO" "$@"; }
# what the owner knows without these rows
known="Alter=0:110:50,Geschlecht=m|w|d,Aufnahme=2015-01-01:2024-12-31,CRP=0:400:30,Station=Innere|Chirurgie|Köln-Süd|Notaufnahme"
known+=",Diagnose=I21|I50|J18|J44|K35|S72|N39|E11,Ausgang=gut|schlecht"

# six: the commands, in the order of the hints
six() {
  sotto data schema klinik.csv --label Ausgang --person Patient --rows-per-person 3 --drop Fall,Ärztin --decimal comma --encoding windows-1252 --state "$known" -o klinik.yaml
  [ "$status" -eq 0 ]
  [ "$output" = "klinik.yaml: a schema; you stated all of its columns" ]
  [[ $stderr != *warning* ]]
  sotto data import klinik.csv --name klinik --schema klinik.yaml
  [ "$status" -eq 0 ]
  [[ $stderr != *warning* ]] # '?' is missing, and nothing else is odd
  summary=$output
  sotto data split klinik --parts train=0.8,test=0.2 --one-hot -o k
  [ "$status" -eq 0 ]
  [[ $output == *"22 columns, 2 classes, encoding declared" ]]
  [[ $stderr != *conditional* ]]
  sotto head --features k/train-features.npy --labels k/train-labels.npy --trainer dp-adam --epsilon 3 -o head.safetensors
  [ "$status" -eq 0 ]
  sotto verify head.safetensors.certificate.json
  [ "$status" -eq 0 ]
  [[ $output == *"conditional  nothing"* ]]
  [[ $output == *"one person (column Patient, at most 3 rows each, sampled as one of "*" persons)"* ]]
  sotto ask klinik.csv "mean CRP by Station; histogram Alter 0:110:10; count" --schema klinik.yaml --person Patient --rows-per-person 3 --epsilon 1 --dataset-id klinik-2020 -o answers.csv
  [ "$status" -eq 0 ]
}

@test "20,000 rows in Windows-1252, from the file to a certificate that holds and to statistics" {
  messy
  six
  [[ $summary == *"Aufnahme "*"date "*"2016-01-01 to 2023-12-28"* ]]
  [[ $summary == *"Köln-Süd"* ]]
  LC_ALL=C awk -F, '/^mean CRP by Station,(Innere|Chirurgie|Köln-Süd|Notaufnahme),/ {n++; if ($5 < 20 || $5 > 40) bad = 1} END {exit bad || n != 4}' answers.csv
  # their mean is 29.9, and noise has a deviation of 1.6: wrong in one of 10^9 runs
  # new rows: the same file, with the columns that the schema leaves out
  sotto predict --head head.safetensors --table klinik.csv --answers a.csv
  [ "$status" -eq 0 ]
  [[ $stderr != *warning* ]]
  [ "$(wc -l < a.csv)" -eq 20001 ]
  sotto predict --head head.safetensors --features k/test-features.npy --labels k/test-labels.npy --json
  accuracy=$(sed -n 's/.*"accuracy": {"estimate": \([0-9.]*\).*"majority".*/\1/p' <<< "$output")
  LC_ALL=C awk "BEGIN {exit !($accuracy > 0.75)}" # the larger class: about a half
}

@test "the same in UTF-8, and with commas between the cells" {
  messy 3000 2 --utf8 --comma
  six
  [[ $summary == *"cells between commas"* ]]
}

@test "a draft as it comes names what it took from rows, and is refused for statistics" {
  messy 3000 3
  sotto data schema klinik.csv --label Ausgang -o klinik.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"state its columns, by --state or by taking them off from_rows"* ]]
  [[ $stderr == *"is not UTF-8 text; it was read as Windows-1252"* ]]
  [[ $stderr == *"column 'Patient' looks as if it named persons"*"--person COLUMN"* ]]
  [[ $stderr == *"column 'Fall' has another value in each of 3000 rows"*"--drop 'Fall'"* ]]
  [[ $stderr == *"is no UTF-8 text, which the schema does not state; --encoding windows-1252 does"* ]]
  [ "$(grep -c '^encoding' klinik.yaml)" -eq 0 ]
  grep -qF '{name: "Fall", type: ignore} # taken' klinik.yaml
  grep -qF '{name: "Patient", type: ignore} # taken' klinik.yaml
  grep -qF '{name: "Aufnahme", type: date, between: ["2016-01-01", "2023-12-31"]} # taken' klinik.yaml
  grep -qE 'name: "CRP", type: number, bounds: \[0, [0-9]+\], decimal: comma, fill: [23][0-9.]+, was_missing: true' klinik.yaml
  grep -qF 'type: category, prefix: 3, categories: ["E11", "I21", "I50", "J18", "J44", "K35", "N39", "S72"]' klinik.yaml
  sotto ask klinik.csv count --schema klinik.yaml --epsilon 1 --dataset-id klinik -o a.csv
  [ "$status" -eq 64 ]
  [[ $stderr == *from_rows* ]]
  [ ! -e a.csv ]
  sotto data import klinik.csv --name k --schema klinik.yaml --person none
  [ "$status" -eq 65 ]
  [[ $stderr == *"'encoding: windows-1252' in the schema reads it as that"* ]]
  sed -i 's/^header/encoding: windows-1252\nheader/' klinik.yaml
  sotto data import klinik.csv --name k --schema klinik.yaml --person none
  sotto data split k --parts train=2400 --one-hot -o k
  [[ $stderr == *conditional* ]]
}

@test "decimal commas are stated too, and lines of UTF-8 in a file of Windows-1252 stay as they are" {
  messy 300 4
  sotto data schema klinik.csv --label Ausgang --person none --state CRP=0:400:30 -o klinik.yaml
  [[ $stderr == *"column 'CRP' has decimal commas, which the schema does not state; --decimal comma does"* ]]
  grep -qF '{name: "CRP", type: number, bounds: [0, 400], fill: 30, was_missing: true}' klinik.yaml
  printf 'ort;ja\nK\xf6ln;a\nK\xc3\xb6ln;b\nK\xf6ln;b\nBonn;a\n' > orte.csv
  sotto data schema orte.csv --label ja --encoding windows-1252 -o orte.yaml
  grep -qF 'categories: ["Bonn", "Köln"]' orte.yaml
}

# seen TABLE: what the table's rows give under a stated schema, without noise
seen() {
  rm -rf xdg
  "$SOTTO" ask "$1" "count by ort; sum v; count" --schema s.yaml --epsilon 30 --dataset-id d -o o.csv --insecure-noise-seed 1 > /dev/null 2>&1
  awk -F, 'NR > 1 {printf "%s ", $0 ~ /^count by/ ? $2 "=" $4 : $4}' o.csv
}

@test "no record decides how another one is read" {
  printf 'header: false\nschema: sotto.schema/1\ncolumns:\n  - {name: ort, type: category, categories: [x, y]}\n  - {name: v, type: number, bounds: [0, 100], fill: 50}\n' > s.yaml
  for ((i = 0; i < 20; i++)); do echo 'x,1'; done > a.csv
  { echo 'x;1,5' && tail -n 19 a.csv; } > b.csv # the separator
  seen a.csv > a
  seen b.csv > b
  cat a b
  [[ $(cat a) == *"x=20 "* ]]
  [[ $(cat b) == *"x=19 "* ]]
  sed -i '/^header/d; s/^columns/encoding: latin-1\ncolumns/; s/\[x, y\]/["Jürgen", y]/' s.yaml # the encoding: each cell by itself
  { echo ort,v && for ((i = 0; i < 20; i++)); do echo 'Jürgen,1'; done; } > a.csv
  { head -n 20 a.csv && printf 'Jürgen,\xff\n'; } > b.csv
  { head -n 20 a.csv && printf 'J\xfcrgen,1\n'; } > c.csv
  for t in a b c; do [[ $(seen $t.csv) == *"Jürgen=20 "* ]]; done
  printf 'schema: sotto.schema/1\ncolumns:\n  - {name: v, type: number, bounds: [0, 100], fill: 50}\n' > s.yaml # a row of one cell that is empty
  { echo v && seq 1 9 && echo 5; } > a.csv
  { echo v && seq 1 9 && echo; } > b.csv
  for t in a b; do
    rm -rf xdg
    "$SOTTO" ask $t.csv "count; sum v" --schema s.yaml --epsilon 30 --dataset-id d -o o.csv
    grep -qE '^count,.*,10,' o.csv
  done
}

@test "--state is checked" {
  messy 300 4
  for wrong in Alter Alter= =5; do
    sotto data schema klinik.csv --label Ausgang --person none --state "$wrong" -o k.yaml
    [ "$status" -eq 64 ]
    [ ! -e k.yaml ]
  done
  sotto data schema klinik.csv --label Ausgang --person none --state Jahre=0:9 -o k.yaml
  [ "$status" -eq 65 ]
  [[ $stderr == *"--state names the column 'Jahre', which the table does not have"* ]]
  sotto data import klinik.csv --name k --label Ausgang --encoding windows-1252 --decimal comma --state Alter=0:9
  [ "$status" -eq 64 ]
}
