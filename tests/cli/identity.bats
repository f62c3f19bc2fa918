#!/usr/bin/env bats
# shards: 2
# Which records are charged: the identity of a data set, from import to certificate.

load ../support/npy

setup() {
  cd "$BATS_TEST_TMPDIR"
  export XDG_DATA_HOME=$PWD/home
  unset SOTTO_DATA_DIR
  make_table 7 > people.csv
  "$SOTTO" data import people.csv --name people --label last --dataset-id survey-2026 --quiet
  printf "no\nyes\n" > names.txt
  ledger=$XDG_DATA_HOME/sotto/ledger/survey-2026.jsonl
}

# 80 people, 4 numbers and a class each; $1: which ones.
make_table() {
  LC_ALL=C awk -v seed="$1" 'BEGIN { srand(seed); print "a,b,c,d,class"
    for (i = 0; i < 80; i++) { k = i % 2; printf "%.4f,%.4f,%.4f,%.4f,%s\n", rand() + k, rand(), rand() - k, rand(), k ? "yes" : "no" } }'
}

# sotto refused CODE "text" COMMAND ...
refused() {
  local code=$1 text=$2
  shift 2
  run "$@"
  echo "exit $status: $output"
  [ "$status" -eq "$code" ]
  [[ "$output" == *"$text"* ]]
}

releases() { # in a ledger
  grep -cE '"event":"(release|reserve)"' "$1" || :
}

# Every record in its one step: the account is a closed form.
dp=(--classes 2 --trainer dp-adam --batch 60 --epochs 1 --epsilon 1.83 --delta 1e-3 --adjacency replace-one)

@test "an import has an identity, which data info shows" {
  [[ "$("$SOTTO" data info people)" == *"identity   survey-2026"* ]]
  grep -q '"dataset_id": "survey-2026"' "$XDG_DATA_HOME/sotto/data/people/dataset.json"
  "$SOTTO" data import people.csv --name second --label last --quiet
  "$SOTTO" data import people.csv --name third --label last --quiet
  [[ "$("$SOTTO" data info second)" =~ identity\ +second-[0-9a-f]{16} ]]
  second=$("$SOTTO" data info second | grep identity)
  third=$("$SOTTO" data info third | grep identity)
  [ "$second" != "${third/third/second}" ]
  refused 64 "is the name of a public set; choose another name" "$SOTTO" data import people.csv --name fourth --dataset-id fashion-mnist
  refused 64 "expected 1 to 127 bytes" "$SOTTO" data import people.csv --name fourth --dataset-id ""
  refused 64 "data set identity 'a?b': expected UTF-8 without control characters" "$SOTTO" data import people.csv --name fourth --dataset-id $'a\nb'
  # a copy of the folder keeps it
  "$SOTTO" data import "$XDG_DATA_HOME/sotto/data/people" --name copy --quiet
  [[ "$("$SOTTO" data info copy)" == *"identity   survey-2026"* ]]
  refused 64 "import: these records already have the identity 'survey-2026'; omit --dataset-id" "$SOTTO" data import "$XDG_DATA_HOME/sotto/data/people" --name again --dataset-id other
}

@test "the same people by another order, encoding, subset, trainer or verb: one ledger, and the budget holds" {
  "$SOTTO" data split people --parts one=60 --seed 1 -o a
  "$SOTTO" data split people --parts one=60 --seed 2 -o b
  "$SOTTO" data split people --parts one=60 --seed 1 --one-hot -o c
  run "$SOTTO" head --features a/one-features.npy --labels a/one-labels.npy "${dp[@]}" -o a.safetensors
  [ "$status" -eq 0 ]
  [[ "$output" == *"opened a new ledger for data set 'survey-2026': $ledger"* ]]
  for part in b c; do # another order, another encoding
    run "$SOTTO" head --features $part/one-features.npy --labels $part/one-labels.npy "${dp[@]}" -o $part.safetensors
    [ "$status" -eq 0 ]
    [[ "$output" != *"a new ledger"* ]]
  done
  "$SOTTO" train --data people --classes names.txt --model mlp --hidden 4 --batch 20 --epochs 1 --dp-sgd --noise-multiplier 3 --delta 1e-3 --threads 1 -o net.safetensors
  "$SOTTO" head --features a/one-features.npy --labels a/one-labels.npy --trainer convex --classes 2 -o convex.safetensors
  "$SOTTO" protect --head convex.safetensors --epsilon 1 --delta 1e-3 -o p.safetensors
  [ "$(releases "$ledger")" -eq 5 ]
  [ "$(ls "$XDG_DATA_HOME/sotto/ledger")" = survey-2026.jsonl ]
  total=$("$SOTTO" ledger show --dataset-id survey-2026 --json | sed -n 's/^  "total": \([0-9.]*\).*/\1/p')
  LC_ALL=C awk -v t="$total" 'BEGIN { exit !(t > 4) }'
  # all charges count against the budget, whichever way the records are given
  for way in "head --features b/one-features.npy --labels b/one-labels.npy ${dp[*]}" "protect --head convex.safetensors --epsilon 1 --delta 1e-3" \
    "train --data people --classes names.txt --model mlp --hidden 4 --batch 20 --epochs 1 --dp-sgd --noise-multiplier 3 --delta 1e-3 --threads 1"; do
    refused 77 "would be exceeded" "$SOTTO" $way --budget-epsilon 2 --budget-delta 1e-3 -o no.safetensors
    [ ! -e no.safetensors ]
  done
  [ "$(releases "$ledger")" -eq 5 ]
}

@test "with a budget of 2 the second run of 1.83 is refused" {
  "$SOTTO" data split people --parts one=60,rest=20 -o a
  "$SOTTO" head --features a/one-features.npy --labels a/one-labels.npy "${dp[@]}" --budget-epsilon 2 --budget-delta 1e-3 -o 1.safetensors
  refused 77 "would be exceeded: spent 1.8" "$SOTTO" head --features a/one-features.npy --labels a/one-labels.npy "${dp[@]}" -o 2.safetensors
  # other people of the same set are charged to the same ledger
  refused 77 "would be exceeded: spent 1.8" "$SOTTO" head --features a/rest-features.npy --labels a/rest-labels.npy "${dp[@]/#60/20}" -o 2.safetensors
  [ ! -e 2.safetensors ]
}

@test "provenance: beside arrays and unprotected files, not beside what may be published" {
  "$SOTTO" data split people --parts one=60 -o a
  grep -q '"dataset_id":"survey-2026","set":"people","records":60' a/one-features.npy.provenance.json
  grep -q '"dataset_id":"survey-2026"' a/one-labels.npy.provenance.json
  "$SOTTO" head --features a/one-features.npy --labels a/one-labels.npy --trainer convex --classes 2 -o h.safetensors
  grep -q '"set":"people","records":60' h.safetensors.provenance.json
  "$SOTTO" protect --head h.safetensors --epsilon 1 --delta 1e-3 -o p.safetensors
  "$SOTTO" head --features a/one-features.npy --labels a/one-labels.npy "${dp[@]}" -o h.safetensors
  [ ! -e p.safetensors.provenance.json ]
  [ ! -e h.safetensors.provenance.json ] # the old one went with its file
  "$SOTTO" train --data people --model mlp --hidden 4 --batch 20 --epochs 1 --threads 1 -o n.safetensors --quiet
  grep -q '"records":80' n.safetensors.provenance.json
  "$SOTTO" sensitivity --features a/one-features.npy --labels a/one-labels.npy --pairs 2 -o s.json
  grep -q '"dataset_id":"survey-2026"' s.json.provenance.json
  # labels of other records
  "$SOTTO" data split people --parts one=60 --seed 9 -o b
  refused 65 "contain different records (see" "$SOTTO" head --features a/one-features.npy --labels b/one-labels.npy -o x.safetensors
}

@test "images: embeddings carry the identity of their set, and its rows" {
  "$SOTTO" embed --encoder scattering --data synthetic-images-n64 --split train -o X.npy --labels-out y.npy
  grep -q '"dataset_id":"synthetic-images-n64","set":"synthetic-images-n64"' X.npy.provenance.json
  # a public set is an exercise, whose ledger may lie anywhere
  for name in one two; do
    "$SOTTO" head --features X.npy --labels y.npy --trainer dp-gd --steps 4 --classes 10 --epsilon 1 --delta 1e-3 --ledger $name.jsonl -o h.safetensors
    [ "$(releases $name.jsonl)" -eq 1 ]
    grep -q '"source_records":"public"' $name.jsonl
  done
  [ ! -e "$XDG_DATA_HOME/sotto/ledger" ]
}

@test "anonymous arrays are refused, unless they are named; a name does not replace an identity" {
  "$SOTTO" data split people --parts one=60 -o a
  cp a/one-features.npy X.npy
  cp a/one-labels.npy y.npy
  refused 64 "X.npy has no identity" "$SOTTO" head --features X.npy --labels y.npy "${dp[@]}" -o h.safetensors
  refused 64 "train: --dp-sgd and --certify-inputs need an imported data set, as errors while reading" "$SOTTO" train --data X.npy:y.npy --classes 2 --model mlp --hidden 4 --batch 20 --epochs 1 --dp-sgd --noise-multiplier 3 -o n.safetensors
  refused 64 "data set identity 'a?b': expected UTF-8 without control characters" "$SOTTO" protect --vector X.npy --l1 1 --epsilon 1 -o v.npy --dataset-id $'a\tb'
  refused 64 "X.npy has no identity" "$SOTTO" protect --vector X.npy --l1 1 --epsilon 1 -o v.npy
  refused 64 "is the name of a public set, and X.npy does not come from it; choose another name" "$SOTTO" protect --vector X.npy --l1 1 --epsilon 1 --dataset-id fashion-mnist -o v.npy
  [ ! -e "$XDG_DATA_HOME/sotto/ledger" ]
  "$SOTTO" head --features X.npy --labels y.npy "${dp[@]}" -o h.safetensors --dataset-id other
  [ "$(releases "$XDG_DATA_HOME/sotto/ledger/other.jsonl")" -eq 1 ]
  refused 64 "belongs to data set 'survey-2026', not to 'other'" \
    "$SOTTO" head --features a/one-features.npy --labels a/one-labels.npy "${dp[@]}" -o g.safetensors --dataset-id other
  [ ! -e g.safetensors ]
  [ ! -e "$ledger" ]
  # verbs that release nothing need no identity
  "$SOTTO" head --features X.npy --labels y.npy -o plain.safetensors
  "$SOTTO" sensitivity --features X.npy --labels y.npy --pairs 2 -o s.json
}

@test "an import of version 1 is read, and says what it lacks" {
  sed -i '/"dataset_id"/d' "$XDG_DATA_HOME/sotto/data/people/dataset.json"
  [[ "$("$SOTTO" data info people)" == *"identity   none (a path, or imported by version 1)"* ]]
  "$SOTTO" data split people --parts one=60 -o a
  [ ! -e a/one-features.npy.provenance.json ]
  private=(train --data people --classes names.txt --model mlp --hidden 4 --batch 20 --epochs 1 --dp-sgd --noise-multiplier 3 --delta 1e-3 --threads 1 -o n.safetensors)
  refused 64 "people has no identity (made elsewhere, opened by its path, or imported by version 1)" "$SOTTO" "${private[@]}"
  "$SOTTO" "${private[@]}" --dataset-id survey-2026
  [ "$(releases "$ledger")" -eq 1 ]
}

@test "the same people under two identities: no charge tells, the owner of both asks" {
  "$SOTTO" data import people.csv --name twin --label last --dataset-id twin-1 --quiet
  make_table 8 > others.csv
  "$SOTTO" data import others.csv --name others --label last --dataset-id others-1 --quiet
  for set in people twin others; do "$SOTTO" data split $set --parts one=60 --seed 3 -o $set; done
  head() { "$SOTTO" head --features $1/one-features.npy --labels $1/one-labels.npy --trainer covariance --classes 10 --clip 1 --epsilon 1 -o $1.safetensors "${@:2}"; }
  head people
  told=$(head others 2>&1)
  [ "${told//others/twin}" = "$(head twin 2>&1)" ] # what is charged for people of another ledger looks like any other charge
  refused 1 "80 of 80 records of twin are records of people too; give both the same identity, or charge both by --same-people-as" "$SOTTO" ledger overlap twin people
  refused 1 "60 of 80 records of twin are records of survey-2026 too" "$SOTTO" ledger overlap twin survey-2026 # what that ledger was charged for
  [ "$("$SOTTO" ledger overlap others people)" = "no record of others is a record of people" ]
  run "$SOTTO" ledger overlap people people/one-features.npy:people/one-labels.npy --json
  [ "$status" -eq 1 ]
  [[ "$output" == *'"records": 80, "shared": 60}'* ]]
  refused 66 "'nobody' is neither a data set nor an identity with a ledger" "$SOTTO" ledger overlap people nobody
  refused 64 "give exactly two data sets" "$SOTTO" ledger overlap people
  head twin --same-people-as survey-2026
  [ "$(releases "$ledger")" -eq 2 ]
  [ "$(releases "$XDG_DATA_HOME/sotto/ledger/twin-1.jsonl")" -eq 2 ]
  "$SOTTO" account --verify twin.safetensors.certificate.json --ledger "$XDG_DATA_HOME/sotto/ledger/twin-1.jsonl"
  refused 64 "no ledger is known for data set 'unknown-set'" head twin --same-people-as unknown-set
}

@test "records are looked up in the set that they came from" {
  "$SOTTO" data split people --parts one=60 -o a
  rm -r "$XDG_DATA_HOME/sotto/data/people"
  private=(head --features a/one-features.npy --labels a/one-labels.npy "${dp[@]}" -o h.safetensors)
  refused 64 "data set 'people', from which these records were taken, is not in the data folder; it is needed to compare its records with those of other ledgers" "$SOTTO" "${private[@]}"
  "$SOTTO" data import people.csv --name people --label last --dataset-id another --quiet
  refused 64 "has the identity 'another', but these records were taken from 'survey-2026'" "$SOTTO" "${private[@]}"
  [ ! -e "$ledger" ]
}

@test "a ledger stays where it is, or is moved" {
  "$SOTTO" data split people --parts one=60 -o a
  private=(head --features a/one-features.npy --labels a/one-labels.npy --trainer covariance --classes 10 --clip 1 --epsilon 1 -o h.safetensors)
  "$SOTTO" "${private[@]}"
  refused 64 "the ledger of data set 'survey-2026' is $ledger, not other.jsonl" "$SOTTO" "${private[@]}" --ledger other.jsonl
  [ ! -e other.jsonl ]
  refused 64 "--ledger-move needs the new path of the ledger; give --ledger FILE" "$SOTTO" "${private[@]}" --ledger-move
  run "$SOTTO" "${private[@]}" --ledger other.jsonl --ledger-move
  [ "$status" -eq 0 ]
  [[ "$output" == *"moved the ledger of data set 'survey-2026' to $PWD/other.jsonl"* ]]
  [ "$(releases other.jsonl)" -eq 2 ]
  [ "$(stat -c %a other.jsonl)" = 600 ]
  "$SOTTO" "${private[@]}" # finds it
  [ "$(releases other.jsonl)" -eq 3 ]
  [[ "$("$SOTTO" ledger show "$ledger")" == *"moved to $PWD/other.jsonl, where it goes on"* ]]
  "$SOTTO" account --verify h.safetensors.certificate.json --ledger other.jsonl
}

@test "an emptied ledger is not taken for a new one, wherever the next release would be charged" {
  printf '\x93NUMPY\x01\x00\x76\x00%-117s\n\0\0\0\0\0\0\0\0' "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }" > v.npy
  protect=("$SOTTO" protect --vector v.npy --mechanism laplace --epsilon 1 --l1 1 --dataset-id survey-2026 -o out.npy)
  "${protect[@]}"
  cp "$ledger" kept.jsonl
  : > "$ledger"
  lost="survey-2026.jsonl: has no entry and is not new, so what was charged to it is lost"
  refused 65 "$lost" "${protect[@]}"
  [[ "$output" == *"put it back from a copy"* ]]
  refused 65 "$lost" "${protect[@]}" --ledger elsewhere.jsonl
  [ ! -e elsewhere.jsonl ]
  refused 65 "$lost" "$SOTTO" ledger show --dataset-id survey-2026
  [ ! -s "$ledger" ]
  cp kept.jsonl "$ledger"
  "${protect[@]}"
  [ "$(releases "$ledger")" -eq 2 ]
}

@test "an officer opens a ledger with a budget, which no trainer widens" {
  run "$SOTTO" ledger init --dataset-id survey-2026 --budget 1.3,1e-3 --contact "privacy office" --ledger office.jsonl
  [ "$status" -eq 0 ]
  [[ "$output" == *"office.jsonl: the ledger of data set 'survey-2026', with a budget of epsilon 1.3, delta 0.001"* ]]
  "$SOTTO" data split people --parts one=60 -o a
  private=(head --features a/one-features.npy --labels a/one-labels.npy --trainer covariance --classes 10 --clip 1 --epsilon 1 --delta 1e-4 -o h.safetensors)
  refused 77 "set by 'sotto ledger init'; expected a budget that is not larger (got" "$SOTTO" "${private[@]}" --budget-epsilon 9 --budget-delta 1e-3
  refused 77 "would be exceeded" "$SOTTO" "${private[@]}" --budget-epsilon 0.5 --budget-delta 1e-3
  "$SOTTO" "${private[@]}"
  "$SOTTO" "${private[@]}" --budget-epsilon 1.25 --budget-delta 1e-3
  [ "$(grep -c '"event":"budget"' office.jsonl)" -eq 1 ] # a tighter one is for its run alone
  refused 77 "the privacy budget (epsilon 1.3, delta 0.001) would be exceeded" "$SOTTO" "${private[@]}"
  run "$SOTTO" ledger show --dataset-id survey-2026
  [ "$status" -eq 0 ]
  [[ "$output" == *"privacy office"* ]]
  [[ "$output" == *"head by second moments"* ]]
  [[ "$output" == *"budget 1.3, set by officer"* ]]
  run "$SOTTO" ledger show office.jsonl --json
  [[ "$output" == *'"schema": "sotto.ledger_show/1"'* ]]
  run "$SOTTO" inspect office.jsonl
  [[ "$output" == *": ledger, "* ]]
  [[ "$output" == *"2 x release"* ]]
  refused 77 "expected a budget that is not larger (got" "$SOTTO" ledger init --dataset-id survey-2026 --budget 5
  refused 64 "expected EPSILON or EPSILON,DELTA" "$SOTTO" ledger init --dataset-id x --budget much
  refused 64 "--budget is missing" "$SOTTO" ledger init --dataset-id x
  refused 64 "ledger show: give exactly one of FILE and --dataset-id" "$SOTTO" ledger show
  refused 64 "action 'close' is unknown" "$SOTTO" ledger close
  refused 66 "nothing.jsonl" "$SOTTO" ledger show nothing.jsonl
}

@test "a table as it is published: one ledger from import to certificate" {
  data=${SOTTO_SHARED:-}/data/adult.data.xz
  [ -e "$data" ] || skip "no $data"
  "$SOTTO" data import "$data" --name adult --quiet
  id=$("$SOTTO" data info adult | sed -n 's/^identity *//p')
  "$SOTTO" data split adult --parts member=2000 --one-hot -o adult
  private=("$SOTTO" head --features adult/member-features.npy --labels adult/member-labels.npy --classes 2 --trainer dp-adam --batch 256 --epochs 2 --epsilon 1.83 --adjacency replace-one)
  "${private[@]}" --budget-epsilon 2 --budget-delta 1e-5 -o 1.safetensors
  refused 77 "would be exceeded" "${private[@]}" -o 2.safetensors
  "$SOTTO" account --verify 1.safetensors.certificate.json --ledger "$XDG_DATA_HOME/sotto/ledger/$id.jsonl"
}

@test "arrays that are opened by their path, or imported again, keep identity, source and stamp" {
  "$SOTTO" data split people --parts one=60,rest=20 -o a
  "$SOTTO" train --data a/one-features.npy:a/one-labels.npy --model mlp --hidden 4 --batch 20 --epochs 1 --threads 1 -o plain.safetensors --quiet
  grep -q '"dataset_id":"survey-2026","set":"people","records":60' plain.safetensors.provenance.json
  "$SOTTO" data split people --parts one=60 --seed 9 -o b
  refused 65 "contain different records (see" "$SOTTO" train --data a/one-features.npy:b/one-labels.npy --model mlp --hidden 4 --batch 20 --epochs 1 --threads 1 -o no.safetensors
  refused 64 "import: these records already have the identity 'survey-2026'; omit --dataset-id" "$SOTTO" data import a/one-features.npy:a/one-labels.npy --name part --dataset-id x
  "$SOTTO" data import a/one-features.npy:a/one-labels.npy --name part --quiet
  [[ "$("$SOTTO" data info part)" == *"identity   survey-2026"* ]]
  private=(train --model mlp --hidden 4 --batch 60 --epochs 1 --dp-sgd --noise-multiplier 5 --delta 1e-3 --threads 1 --classes 2 -o n.safetensors)
  "$SOTTO" "${private[@]}" --data part --budget-epsilon 1.2 --budget-delta 2e-3
  [ "$(ls "$XDG_DATA_HOME/sotto/ledger")" = survey-2026.jsonl ]
  refused 77 "would be exceeded" "$SOTTO" "${private[@]}" --data part
  # the same people in another import, encoded by their own rows, as arrays that are imported again
  "$SOTTO" data import people.csv --name twin --label last --dataset-id twin-1 --quiet
  "$SOTTO" data split twin --parts one=60 --one-hot -o c
  "$SOTTO" data import c/one-features.npy:c/one-labels.npy --name hot --quiet
  refused 1 "records of hot are records of people too" "$SOTTO" ledger overlap hot people
  "$SOTTO" "${private[@]}" --data hot
  grep -q 'the encoding of the table was fitted on these records' n.safetensors.certificate.json
}

@test "an experiment charges the ledger of a private set, and keeps that of a public one in its folder" {
  cat > small.yaml <<'Y'
name: small
data: {set: synthetic-images, public: 64, private: 40, heldout: 40}
pretrain: {epochs: 1, batch: 32}
head: {epochs: 1}
protect: [{mechanism: logistic, scale: 1, l1: 1, delta: 1.0e-3}]
attack: {names: [loss]}
Y
  "$SOTTO" run small.yaml -o public --threads 1 --quiet
  [ "$(releases public/ledger.jsonl)" -eq 1 ]
  [ ! -e "$XDG_DATA_HOME/sotto/ledger" ]
  "$SOTTO" verify public/protected/head-p1.safetensors.certificate.json --ledger public/ledger.jsonl
  head -c 38400 /dev/urandom | npy images.npy '|u1' '150, 1, 16, 16'
  for i in $(seq 75); do printf '\0\1'; done | npy labels.npy '|u1' '150,'
  "$SOTTO" data import images.npy:labels.npy --name pictures --dataset-id pictures-1 --quiet
  for folder in one two; do "$SOTTO" run small.yaml -s data.set=pictures -s data.classes=2 -o $folder --threads 1 --quiet; done
  own=$XDG_DATA_HOME/sotto/ledger/pictures-1.jsonl
  [ "$(releases "$own")" -eq 2 ]
  cmp "$own" two/ledger.jsonl
  "$SOTTO" verify one/protected/head-p1.safetensors.certificate.json --ledger "$own"
  grep -q '"dataset_id":"pictures-1","set":"pictures","records":40' one/models/head.safetensors.provenance.json
  refused 64 "has no identity" "$SOTTO" run small.yaml -s data.set=images.npy:labels.npy -s data.classes=2 -o three
}
