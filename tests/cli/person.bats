#!/usr/bin/env bats
# shards: 4
# Persons as the unit of privacy: rows are capped at the import, stay together in a split, and every account is that of a person.

bats_require_minimum_version 1.5.0

root=$(cd "$(dirname "$BATS_TEST_FILENAME")/../.." && pwd)

setup() {
  cd "$BATS_TEST_TMPDIR" || exit 1
  export XDG_DATA_HOME=$PWD/home
  unset SOTTO_DATA_DIR
}
# table SEED [ROWS VALUE]: 40 persons of 1 to 6 rows, interleaved; column a is the person's number. ROWS VALUE: person 7 has so many
# rows of that value instead of 6, the first 6 of them where the others' were.
table() {
  LC_ALL=C awk -v seed="$1" -v rows="${2:-6}" -v value="${3:-}" 'BEGIN { srand(seed); n = 0; print "patient,a,b,class"
    for (p = 0; p < 40; p++) for (k = 0; k < (p == 7 ? 6 : 1 + p % 6); k++) row[n++] = p
    for (i = n - 1; i > 0; i--) { j = int(rand() * (i + 1)); t = row[i]; row[i] = row[j]; row[j] = t }
    for (i = 0; i < n; i++) { p = row[i]; b = rand(); own = p == 7 && value != ""
      printf "%s,%s,%s,%s\n", own ? "stranger" : "p" p, own ? value : p, own ? value : b, own ? "yes" : p % 2 ? "yes" : "no" }
    for (i = 6; i < rows; i++) printf "stranger,%s,%s,yes\n", value, value }'
}
import() { "$SOTTO" data import people.csv --name people --dataset-id people --quiet "$@"; }
parts() { "$SOTTO" data split people --parts "${1:-train=60,test=30}" -o parts --quiet > /dev/null; printf 'no\nyes\n' > names.txt; }
rows_of() { od -An -v -tf4 -w8 -j128 "parts/$1-features.npy" | awk '{ print $1 }' | sort; } # the person of each row
head_of() { "$SOTTO" head --features parts/train-features.npy --labels parts/train-labels.npy --classes names.txt "$@"; }
convex() { head_of --trainer convex --lambda 0.1 -o u.safetensors --quiet > /dev/null; }
refused() { # CODE TEXT COMMAND...
  local code=$1 text=$2
  shift 2
  run "$@"
  [ "$status" -eq "$code" ] && [[ "$output" == *"$text"* ]] || { echo "exit $status: $output"; return 1; }
}

@test "no order of the rows leaves a person more than M, and none loses a row below M" {
  for seed in 1 2 3; do
    for most in 1 2 5; do
      rm -rf home
      table $seed > people.csv
      import --person patient --rows-per-person $most > /dev/null
      parts train=40
      [ "$(rows_of train | uniq -c | awk '{ print $1 }' | sort -n | tail -1)" -le $most ]
      all=$(awk -F, -v m=$most 'NR > 1 && n[$1]++ < m { k++ } END { print k }' people.csv)
      "$SOTTO" data info people | grep -qx "records    $all .*"
    done
  done
}

@test "a person of 10,000 rows, M = 1: one row; who a person is" {
  table 1 10000 5 > people.csv
  import --person patient --rows-per-person 1 > /dev/null
  "$SOTTO" data info people | grep -q "records    40 "
  rm -rf home
  printf 'id,x,class\n7,1,a\n007,2,b\n7.0,3,a\n8,4,b\n-0,5,a\n0,6,b\n' > people.csv # numbers are compared as numbers
  import --person id --rows-per-person 1 > /dev/null
  "$SOTTO" data info people | grep -q "records    3 "
  for nobody in "" "?" NA nan null; do
    rm -rf home
    printf 'id,x,class\n7,1,a\n%s,2,b\n9,3,a\n' "$nobody" > people.csv
    refused 65 "people.csv:3: column 'id' names no person" "$SOTTO" data import people.csv --name people --person id --rows-per-person 2
  done
}

@test "all rows of a person are in one part" {
  table 1 > people.csv
  import --person patient --rows-per-person 4 > /dev/null
  for seed in 1 2 3; do
    "$SOTTO" data split people --parts train=41,test=40,rest=30 --seed $seed -o parts --quiet > /dev/null
    [ "$({ rows_of train | uniq; rows_of test | uniq; rows_of rest | uniq; } | sort | uniq -d | wc -l)" -eq 0 ]
    [ "$(rows_of train | wc -l)" -le 41 ]
  done
}

@test "a table that seems to name persons is asked about; a schema that does needs an answer" {
  table 1 > people.csv
  run "$SOTTO" data import people.csv --name asked
  [[ "$output" == *"column 'patient' looks as if it named persons"*"--person COLUMN --rows-per-person M"*"--person none"* ]]
  run "$SOTTO" data import people.csv --name stated --person none
  [[ "$output" != *"looks as if"* ]]
  cut -d, -f2- people.csv | sed '1s/a/age/' > plain.csv
  run "$SOTTO" data import plain.csv --name plain
  [[ "$output" != *"looks as if"* ]]
  run "$SOTTO" data split people.csv --parts train=40 -o bare # a table that is not imported
  [[ "$output" == *"column 'patient' looks as if it named persons"* ]]
  run "$SOTTO" data split plain.csv --parts train=40 -o bare2
  [[ "$output" != *"looks as if"* ]]
  refused 64 "--rows-per-person M" "$SOTTO" data import people.csv --name x --person patient
  refused 64 "give --person COLUMN" "$SOTTO" data import people.csv --name x --rows-per-person 3
  refused 64 "give --person COLUMN" "$SOTTO" data import people.csv --name x --person none --rows-per-person 3
  refused 65 "has no column 'who'" "$SOTTO" data import people.csv --name x --person who --rows-per-person 3 || \
    refused 64 "has no column 'who'" "$SOTTO" data import people.csv --name x --person who --rows-per-person 3
  printf 'schema: sotto.schema/1\ncolumns:\n- {name: patient, type: person}\n- {name: a, type: number, bounds: [0, 40]}\n' > schema.yaml
  printf -- '- {name: b, type: number, bounds: [0, 1]}\n- {name: class, type: label, classes: [no, yes]}\n' >> schema.yaml
  refused 64 "give --person patient --rows-per-person M, or --person none" "$SOTTO" data import people.csv --name x --schema schema.yaml
  "$SOTTO" data import people.csv --name declared --schema schema.yaml --person patient --rows-per-person 2 --dataset-id d --quiet
  "$SOTTO" data info declared | grep -q "features   2 columns"
  "$SOTTO" data split declared --parts train=40 --one-hot -o parts --quiet > /dev/null
  grep -q '"person":"patient","rows_per_person":2' parts/train-features.npy.provenance.json
  "$SOTTO" data import people.csv --name none --schema schema.yaml --person none --quiet
  cut -d, -f1-4 people.csv > again.csv
  "$SOTTO" data import again.csv --name raw --quiet
  refused 64 "imported without them" "$SOTTO" data split raw --parts train=40 --one-hot --schema schema.yaml -o other
}

@test "a messy table of persons: separators, quotes, missing values, dirty rows and columns to drop" {
  table 1 | awk -F, -v OFS=';' 'NR == 1 { print "\"patient\"", "a", "b", "note", "class"; next }
    { print "\"" $1 "\"", NR % 11 ? $2 : "  " $2 " ", "\"" $3 "\"", NR % 9 ? "free; text" : "n/a", $4 }' | sed 's/free; text/"free; text"/' > people.csv
  sed -i '5s/$/;more/; 8s/.*/p3;1/' people.csv # two rows of another form
  refused 65 "people.csv:5" import --person patient --rows-per-person 2 --drop note
  import --person patient --rows-per-person 2 --drop note --missing n/a --drop-bad-rows > said
  grep -q "patient" said || "$SOTTO" data info people > said
  parts train=50
  [ "$(rows_of train | uniq -c | awk '{ print $1 }' | sort -n | tail -1)" -le 2 ]
  "$SOTTO" data info people | grep -q "features   2 columns"
  # the cap counts rows that are kept: nobody has fewer than min(rows that can be read, 2)
  all=$(sed 's/free; text/text/' people.csv | awk -F';' 'NR > 1 && NF == 5 && n[$1]++ < 2 { k++ } END { print k }')
  "$SOTTO" data info people | grep -qx "records    $all .*"
  rm -rf home
  awk -F';' -v OFS=';' 'NR == 7 { $1 = "n/a" } { print }' people.csv > nobody.csv # a missing person is nobody
  refused 65 "names no person" "$SOTTO" data import nobody.csv --name nobody --person patient --rows-per-person 2 --drop note --missing n/a --drop-bad-rows
  refused 64 "" "$SOTTO" data import people.csv --name dropped --person patient --rows-per-person 2 --drop patient,note --drop-bad-rows || \
    [ "$status" -eq 65 ]
}

@test "ledger, certificate and both verifiers say whose privacy it is, and the account is that of the person" {
  table 1 > people.csv
  import --person patient --rows-per-person 3 > /dev/null
  parts
  convex
  "$SOTTO" protect --head u.safetensors --mechanism laplace --scale 100 --quiet -o p.safetensors > line
  unit="one person (column patient, at most 3 rows each)"
  grep -qF "unit of privacy: $unit" line
  grep -qF '"schema":"sotto.ledger/3"' home/sotto/ledger/people.jsonl
  grep -qF "\"unit_of_privacy\":\"$unit\"" home/sotto/ledger/people.jsonl
  "$SOTTO" verify p.safetensors --ledger home/sotto/ledger/people.jsonl > out
  grep -qF "unit         of privacy: $unit" out
  "$SOTTO" certificate p.safetensors | tr -s ' \n' ' ' > page
  grep -qF "Unit of privacy $unit" page
  grep -qF "replace-one: the rows of one person replaced by as many rows of another person" page
  run -1 grep -q "one record replaced" page
  "$SOTTO" ledger show --dataset-id people | grep -qF "unit of privacy: $unit"
  if python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))'; then
    python3 "$root/verifier/sotto-verify.py" p.safetensors --ledger home/sotto/ledger/people.jsonl | grep -qF "unit         of privacy: $unit"
    sed 's/"column": "patient"/"column": "somebody"/' p.safetensors.certificate.json > forged.safetensors.certificate.json
    cp p.safetensors forged.safetensors
    refused 1 "unit of privacy" python3 "$root/verifier/sotto-verify.py" forged.safetensors
    refused 1 "unit of privacy" "$SOTTO" verify forged.safetensors
    sed 's/"rows": 3/"rows": 1/; s/at most 3 rows/at most 1 row/g' p.safetensors.certificate.json > forged.safetensors.certificate.json
    refused 1 "proof" "$SOTTO" verify forged.safetensors # three times the sensitivity of the recipe
    sed 's|certificate/3|certificate/2|' p.safetensors.certificate.json > forged.safetensors.certificate.json
    refused 65 "person" python3 "$root/verifier/sotto-verify.py" forged.safetensors
    refused 65 "person" "$SOTTO" verify forged.safetensors
  fi
  # the same noise for records: a third of the epsilon
  sed -n 's/.*epsilon \([0-9.]*\) at.*/\1/p' out > person
  rm -rf home
  import --person none > /dev/null
  head_of --trainer convex --lambda 0.1 --dataset-id records -o u2.safetensors --quiet > /dev/null || true
  rm parts/*.provenance.json
  convex
  "$SOTTO" protect --head u.safetensors --mechanism laplace --scale 100 --dataset-id records --quiet -o r.safetensors > line
  "$SOTTO" verify r.safetensors | sed -n 's/.*epsilon \([0-9.]*\) at.*/\1/p' > record
  paste person record | LC_ALL=C awk '{ ratio = $1 / $2 } END { exit !(ratio > 2.9999 && ratio < 3.0001) }'
}

@test "every trainer meets its target for the person, or refuses" {
  table 1 > people.csv
  import --person patient --rows-per-person 3 > /dev/null
  parts
  for trainer in dp-sgd dp-adam dp-gd objective covariance functional taylor; do
    [[ $trainer == dp-sgd || $trainer == dp-adam ]] && steps="--batch 10 --epochs 2" || steps=
    # shellcheck disable=SC2086
    head_of --trainer $trainer $steps --epsilon 0.3 -o $trainer.safetensors --quiet > line
    grep -q "(0.3, 0\(\.001\)\?)-diff.*unit of privacy: one person (column patient, at most 3 rows each\(, sampled as one of 25 persons\)\?)" line || \
      grep -q "(0.299.*unit of privacy: one person (column patient, at most 3 rows each\(, sampled as one of 25 persons\)\?)" line || { cat line; false; }
    "$SOTTO" verify $trainer.safetensors --ledger home/sotto/ledger/people.jsonl > /dev/null
  done
  before=$(wc -l < home/sotto/ledger/people.jsonl)
  refused 64 "Poisson" head_of --trainer dp-sgd --unit record --sampling fixed --batch 10 --epochs 2 --noise-multiplier 9 -o x.safetensors || \
    refused 65 "Poisson" head_of --trainer dp-sgd --unit record --sampling fixed --batch 10 --epochs 2 --noise-multiplier 9 -o x.safetensors
  for more in "--table parts/test-labels.npy --statistic most-frequent --classes 2 --mechanism propose-test-release --delta 1e-5" \
    "--vector parts/test-labels.npy --mechanism randomised-response --classes 2 --l1 1" \
    "--records parts/test-features.npy --mechanism gaussian --delta 1e-3 --clip 1"; do
    # shellcheck disable=SC2086
    run "$SOTTO" protect $more --epsilon 1 -o x.npy
    [ "$status" -ne 0 ] && [ ! -e x.npy ] || { echo "$more: $output"; false; }
  done
  [ "$(wc -l < home/sotto/ledger/people.jsonl)" -eq "$before" ]
  refused 65 "omit --rows-per-person" head_of --trainer covariance --epsilon 1 --rows-per-person 1 -o x.safetensors || \
    refused 64 "omit --rows-per-person" head_of --trainer covariance --epsilon 1 --rows-per-person 1 -o x.safetensors
  # records and persons do not add up
  rm parts/*.provenance.json
  refused 77 "they do not add up" head_of --trainer covariance --epsilon 1 --dataset-id people -o x.safetensors
}

@test "a network by DP-SGD, and a stated cap" {
  table 1 > people.csv
  import --person patient --rows-per-person 2 > /dev/null
  parts train=40,test=30
  train() { "$SOTTO" train --data people --classes names.txt --dp-sgd --model mlp --hidden 4 --batch 10 --epochs 1 --epsilon 0.3 --dtype f32 --backend dnnl -o n.safetensors --quiet "$@" > line; }
  train --unit record
  grep -q "unit of privacy: one person (column patient, at most 2 rows each)" line
  "$SOTTO" verify n.safetensors --ledger home/sotto/ledger/people.jsonl > /dev/null
  for how in "" "--unit person --rows-per-step 1 --ema 0.9"; do
    # shellcheck disable=SC2086
    train $how
    grep -q "unit of privacy: one person (column patient, at most 2 rows each, sampled as one of 40 persons)" line
    "$SOTTO" verify n.safetensors --ledger home/sotto/ledger/people.jsonl > said
    grep -q "noise, rate and steps agree" said
    python3 -I "$root/verifier/sotto-verify.py" n.safetensors --ledger home/sotto/ledger/people.jsonl > said
    grep -q "epsilon re-derived from rate" said
  done
  refused 64 "cannot be combined with --certify-inputs" "$SOTTO" train --data people --certify-inputs --unit person -o x.safetensors
  refused 64 "plain training makes no certificate" "$SOTTO" train --data people --rows-per-step 2 -o x.safetensors
  rm -rf home parts/*.provenance.json
  head_of --trainer covariance --epsilon 1 --dataset-id others --rows-per-person 2 -o s.safetensors --quiet > line
  grep -q "proved: none; conditional: .*; only if this is true: A person has at most 2 rows in these records." line
  "$SOTTO" verify s.safetensors > /dev/null
}

# What does not depend on noise.
facts() { sed -E '/"event":"records"/s/[0-9a-f]{16}/DIGITS/g; s/[0-9a-f]{64}/HASH/g; s/[0-9a-f]{32}/RUN/g; s/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z/TIME/g'; }

@test "neighbouring persons: private verbs print the same, and only that person's rows differ" {
  n=0
  for change in "" "6 1e30" "10000 9"; do # another person in the place of person 7; how many rows it has beyond the cap
    rm -rf home parts ./*.safetensors*
    # shellcheck disable=SC2086
    table 1 $change > people.csv
    import --person patient --rows-per-person 2 > /dev/null
    parts train=43,test=30
    {
      "$SOTTO" head --features parts/train-features.npy --labels parts/train-labels.npy --classes names.txt --trainer dp-sgd --batch 10 --epochs 2 --noise-multiplier 30 -o d.safetensors
      convex
      "$SOTTO" protect --head u.safetensors --epsilon 1 --delta 1e-3 -o p.safetensors
      cat d.safetensors.certificate.json p.safetensors.certificate.json home/sotto/ledger/people.jsonl
      wc -c parts/*.npy d.safetensors p.safetensors
    } 2>&1 | facts > "outcome$n"
    { od -An -v -tf4 -w8 -j128 parts/train-features.npy; od -An -v -tf4 -w8 -j128 parts/test-features.npy; } > "rows$n"
    diff outcome0 "outcome$n"
    [ "$n" -eq 0 ] || [ "$(diff rows0 "rows$n" | grep -c '^>')" -eq 2 ] # both parts hold everybody
    n=$((n + 1))
  done
}

@test "persons as units: the noise of a record whatever the rows, and a certificate that says so" {
  for most in 1 6; do
    LC_ALL=C awk -v most=$most 'BEGIN { srand(1); print "patient,a,class"; for (i = 0; i < 600; i++) printf "p%d,%g,%s\n", i / most, rand(), i % 2 ? "yes" : "no" }' > people.csv
    rm -rf home data parts
    import --person patient --rows-per-person $most > /dev/null
    parts train=600
    batch=$((120 / most)) # of persons: the same rate
    head_of --trainer dp-sgd --batch $batch --epochs 4 --epsilon 1 --delta 1e-4 -o h$most.safetensors --quiet > line
    grep -qF "unit of privacy: one person (column patient, at most $most row" line
    grep -qF "sampled as one of $((600 / most)) persons)" line
    "$SOTTO" verify h$most.safetensors --ledger home/sotto/ledger/people.jsonl > said
    grep -q "noise, rate and steps agree" said
    python3 -I "$root/verifier/sotto-verify.py" h$most.safetensors --ledger home/sotto/ledger/people.jsonl > said
    grep -q "epsilon re-derived from rate, noise and 20 steps" said
    sed -n 's/.*"noise_multiplier": \([0-9.]*\).*/\1/p' h$most.safetensors.certificate.json >> multipliers
  done
  [ "$(sort -u multipliers | wc -l)" = 1 ]
  # forged: rows by themselves, fewer persons, more persons
  for change in '/"persons": 100/d; s/"rows": 6,/"rows": 6/; s/, sampled as one of 100 persons//g' 's/"persons": 100/"persons": 99/; s/one of 100 persons/one of 99 persons/' \
    's/"persons": 100/"persons": 0/; s/one of 100 persons/one of 0 persons/'; do
    sed "$change" h6.safetensors.certificate.json > f.safetensors.certificate.json
    cp h6.safetensors f.safetensors
    run "$SOTTO" verify f.safetensors
    [ "$status" -ne 0 ]
    run python3 -I "$root/verifier/sotto-verify.py" f.safetensors
    [ "$status" -ne 0 ]
  done
  # by record: six rows of a person cost more, and the two add up in one ledger
  head_of --trainer dp-sgd --batch 120 --epochs 4 --noise-multiplier "$(head -1 multipliers)" --delta 1e-4 --unit record -o r.safetensors --quiet > line
  sed -n 's/.*(\([0-9.]*\), 0.0001)-diff.*/\1/p' line | LC_ALL=C awk '{ exit !($1 > 5) }'
  "$SOTTO" verify r.safetensors --ledger home/sotto/ledger/people.jsonl > /dev/null
  # so many steps, and their average
  head_of --trainer dp-adam --batch 20 --steps 7 --ema 0.9 --rows-per-step 2 --epsilon 1 --delta 1e-4 -o s.safetensors --quiet > /dev/null
  grep -q '"charged": 7,' s.safetensors.certificate.json
  "$SOTTO" verify s.safetensors --ledger home/sotto/ledger/people.jsonl > /dev/null
  python3 -I "$root/verifier/sotto-verify.py" s.safetensors --ledger home/sotto/ledger/people.jsonl > said
  grep -q "noise, rate and steps agree" said
  # the calculator says what either way costs
  "$SOTTO" account --mechanism gaussian --noise-multiplier 5.92 --sample-rate .0341 --steps 586 --delta 1e-6 --rows-per-person 10 > said
  grep -qF "epsilon at delta 1e-06: at most 7.35" said
  grep -qF "each clipped as one (--unit person): epsilon at most 0.5789014539 (replace-one: at most 1.193239233)" said
  # what cannot be
  refused 65 "trainer dp-gd takes all records" head_of --trainer dp-gd --unit person --epsilon 1 -o x.safetensors || \
    refused 64 "trainer dp-gd takes all records" head_of --trainer dp-gd --unit person --epsilon 1 -o x.safetensors
  refused 64 "omit it" head_of --trainer dp-sgd --persons parts/train-labels.npy --epsilon 1 -o x.safetensors
  refused 64 "makes no difference to trainer dp-gd" head_of --trainer dp-gd --rows-per-step 2 --epsilon 1 -o x.safetensors
  refused 64 "only a person has rows" head_of --trainer dp-sgd --unit record --rows-per-step 2 --epsilon 1 -o x.safetensors || \
    refused 65 "only a person has rows" head_of --trainer dp-sgd --unit record --rows-per-step 2 --epsilon 1 -o x.safetensors
}

@test "persons that are stated: epsilon is conditional on them, and both verifiers ask for that" {
  LC_ALL=C awk 'BEGIN { srand(1); print "a,class"; for (i = 0; i < 600; i++) printf "%g,%s\n", rand(), i % 2 ? "yes" : "no" }' > people.csv
  import --person none > /dev/null
  parts train=600
  LC_ALL=C awk 'BEGIN { for (i = 0; i < 600; i++) print i % 200 }' > who.csv
  head_of --trainer dp-sgd --persons who.csv --batch 40 --epochs 4 --epsilon 1 --delta 1e-4 -o h.safetensors --quiet > line
  grep -qF "only if this is true: A person has at most 3 rows, all under one number in these records." line
  grep -qF "one person (at most 3 rows each, sampled as one of 200 persons, as stated by the caller)" line
  "$SOTTO" verify h.safetensors --ledger home/sotto/ledger/people.jsonl > /dev/null
  python3 -I "$root/verifier/sotto-verify.py" h.safetensors --ledger home/sotto/ledger/people.jsonl > /dev/null
  head -599 who.csv > short.csv
  refused 65 "has 599 rows" head_of --trainer dp-sgd --persons short.csv --epsilon 1 -o x.safetensors
  refused 64 "makes no difference to trainer dp-gd" head_of --trainer dp-gd --persons who.csv --epsilon 1 -o x.safetensors
}

@test "two runs of epsilon 3 each fit into 4.6 for persons of three rows, and a third does not" {
  LC_ALL=C awk 'BEGIN { srand(1); print "patient,a,class"; for (i = 0; i < 12000; i++) printf "p%d,%g,%s\n", i / 3, rand(), i % 2 ? "yes" : "no" }' > people.csv
  import --person patient --rows-per-person 3 > /dev/null
  parts train=12000
  run_of() { head_of --trainer dp-sgd --unit record --epsilon 3 --budget-epsilon 4.6 --budget-delta 1e-6 -o "$1.safetensors" --quiet; }
  run_of one > /dev/null
  run_of two > /dev/null
  refused 77 "the privacy budget (epsilon 4.6, delta 1e-06) would be exceeded: spent 4.42" run_of three
  "$SOTTO" ledger show --dataset-id people > shown # by all rows at once: 24.8
  grep -q "^total: epsilon 4.42[0-9]* at delta 1e-06 (replace-one)" shown
  grep -qF "any order of choices: epsilon 4.6 at delta 1e-06, the budget" shown
  # the calculator, of the same two runs
  multiplier=$(sed -n 's/.*"noise_multiplier":\([0-9.]*\).*/\1/p' home/sotto/ledger/people.jsonl | head -1)
  event="{\"mechanism\":\"gaussian\",\"noise_multiplier\":$multiplier,\"sample_rate\":0.0020833333333333333,\"steps\":9600,\"group\":3}"
  echo "[$event,$event]" > events.json
  "$SOTTO" account --events events.json --delta 1e-6 --adjacency replace-one --any-order > said
  grep -q "^for any order of choices: epsilon at delta 1e-06: at most 4.42" said
  grep -q "at most 4.42[0-9]* (privacy-loss distribution)" said
}
