#!/usr/bin/env bats
# Tables as people have them: what an import says of them, what it takes, and what it refuses by name.

bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_TMPDIR" || exit
  export SOTTO_DATA_DIR=$PWD/data XDG_DATA_HOME=$PWD/xdg
}

sotto() { run --separate-stderr "$SOTTO" "$@"; }

# good N SEPARATOR: N good rows of age, job, ill
good() {
  for i in $(seq "$1"); do
    echo "$((20 + i % 60))$2$([ $((i % 3)) = 0 ] && echo cook || echo nurse)$2$([ $((i % 2)) = 0 ] && echo no || echo yes)"
  done
}

@test "an import shows what the columns hold, as text and as JSON" {
  { echo "age,job,ill"; good 60 ,; echo ",cook,no"; echo "n/a,pilot,no"; } > t.csv
  sotto data import t.csv --name t --label ill
  [ "$status" -eq 0 ]
  [ "${lines[1]}" = "t: 62 records, cells between commas, names in the first row; rows left out: 0" ]
  [[ ${lines[3]} =~ ^\ \ age\ +number\ +2\ +0\ +20\ to\ 79,\ mean\ 49\.5$ ]]
  [[ ${lines[4]} =~ ^\ \ job\ +category\ +0\ +0\ +3:\ nurse\ 40,\ cook\ 21,\ pilot\ 1$ ]]
  [[ ${lines[5]} =~ ^\ \ ill\ +label\ +2:\ no\ 32,\ yes\ 30$ ]]
  [[ ${lines[6]} == *"for their owner only." ]]
  [[ "$("$SOTTO" data info t)" == *"${lines[3]}"* ]]
  sotto data import t.csv --name u --label ill --json
  tr -d ' \n' <<< "$output" | grep -q '"table":{"separator":",","header":true,"left_out":0}'
  tr -d ' \n' <<< "$output" | grep -q '"name":"age","kind":"number","missing":2,"unforeseen":0,"low":20.0,"high":79.0,"mean":49.5'
  tr -d ' \n' <<< "$output" | grep -q '"counts":\[21,40,1\]'
}

@test "long lists are cut" {
  for i in $(seq 30); do echo "v$i,1"; done > many.csv
  { seq -s, 60; seq -s, 2 61; } > wide.csv
  sotto data import many.csv --name many --label last --no-header
  [ "$status" -eq 65 ] # one class
  sed -i '1s/1$/2/' many.csv
  sotto data import many.csv --name many --label last
  [[ $output == *"30: v1 1, v10 1, v11 1, v12 1, v13 1, v14 1, and 24 more"* ]]
  sotto data import wide.csv --name wide --label first
  [[ $output == *"and 19 more columns"* ]]
}

@test "separators, byte-order mark, CRLF, blanks and quotes are found" {
  local n=0
  for separator in , ';' $'\t' '|'; do
    { printf '\xef\xbb\xbf'; printf 'age%sjob%s"ill"\r\n' "$separator" "$separator"
      good 20 "$separator" | sed "s/cook/ \"a ${separator} cook\" /; s/\$/\r/"; } > t.csv
    sotto data import t.csv --name "t$((++n))" --label ill
    [ "$status" -eq 0 ]
    [[ $output == *"names in the first row"*"a ${separator/$'\t'/?} cook 6"* ]] # a tab is no character of a table
  done
  sotto data import t.csv --name semi --separator semicolon --label ill
  [ "$status" -eq 65 ]
  sotto data import t.csv --name dot --separator .
  [ "$status" -eq 64 ]
  [ "$stderr" = "reading t.csv
sotto: error: --separator: '.'; expected comma, semicolon, tab or pipe" ]
}

@test "a row of names is found among texts, or is a record on demand" {
  { echo "sex,town,won"; for i in $(seq 12); do echo "$([ $((i % 2)) = 0 ] && echo m || echo f),ulm,$([ $((i % 3)) = 0 ] && echo a || echo b)"; done; } > texts.csv
  sotto data import texts.csv --name texts --label won
  [[ $output == *"12 records, cells between commas, names in the first row"* ]]
  sotto data import texts.csv --name record --label last --no-header
  [[ $output == *"13 records, cells between commas, no row of names"* ]]
  [[ $stderr == *"class 'won' has 1 records, too few to be learnt"* ]]
}

@test "a text among numbers is named, and what to do about it" {
  { echo "age,job,ill"; good 60 ,; echo "unknown,cook,no"; echo "old,cook,yes"; } > t.csv
  sotto data import t.csv --name t --label ill
  [ "$status" -eq 0 ]
  [[ $stderr == *"column 'age' becomes categories because 2 of its 62 values are no number, such as 'unknown': lines 62 and 63; give --missing"* ]]
  sotto data import t.csv --name u --label ill --missing unknown,old
  [ "$status" -eq 0 ]
  [[ $stderr != *warning* ]]
  [[ ${lines[3]} =~ ^\ \ age\ +number\ +2\ +0 ]]
  "$SOTTO" data split u --parts all=60 --one-hot -o u
  [[ "$("$SOTTO" inspect u/all-features.npy)" == *"(60, 3)"*"NaN 0"* ]]
  sotto data import t.csv --name v --label ill --types age=number
  [ "$status" -eq 65 ]
  [[ $stderr == *"t.csv: column 'age' has no number in 2 rows: lines 62 and 63"*"hint: --missing names the cells"* ]]
  sotto data import t.csv --name v --label ill --types age=number --drop-bad-rows
  [ "$status" -eq 0 ]
  [[ $output == *"60 records"*"rows left out: 2"* ]]
  sotto data import t.csv --name w --label ill --types age=category
  [[ $stderr != *"becomes categories"* ]]
  [[ ${lines[3]} =~ ^\ \ age\ +category ]]
}

@test "columns by name: types, columns to leave out, and names that are none" {
  { echo "age,job,ill"; good 60 ,; } > t.csv
  sotto data import t.csv --name x --label ill --types age=integer
  [ "$status" -eq 64 ]
  sotto data import t.csv --name x --label ill --types years=number
  [ "$status" -eq 65 ]
  [[ $stderr == *"--types names the column 'years', which the table does not have"* ]]
  sotto data import t.csv --name x --label ill --drop age,job
  [ "$status" -eq 65 ]
  sotto data import t.csv --name x --label ill --drop ill
  [ "$status" -eq 65 ]
  sotto data import t.csv --name x --label ill --drop job
  [ "$status" -eq 0 ]
  [[ $output != *"job"* ]]
  mkdir images && cp t.csv images/x.png
  sotto data import images --name images --drop-bad-rows
  [ "$status" -eq 64 ]
}

@test "decimal commas are refused by name" {
  { echo "age;weight;ill"; good 30 ';' | sed 's/cook/72,5/; s/nurse/81,25/'; } > comma.csv
  sotto data import comma.csv --name comma --label ill
  [ "$status" -eq 65 ]
  [[ $stderr == *"column 'weight' has decimal commas, such as '81,25'; expected decimal points (lines 2, 3,"*"and 10 more)"* ]]
  [[ $stderr == *"hint: --decimal comma reads them"* ]]
  sotto data import comma.csv --name comma --label ill --types weight=category
  [ "$status" -eq 0 ]
}

@test "all bad rows are named, or left out" {
  { echo "age,job,ill"; good 60 ,; echo "1,cook"; echo '2,"cook,no'; echo "3,cook,no,"; echo "4,cook,"; } > t.csv
  sotto data import t.csv --name t --label ill
  [ "$status" -eq 65 ]
  [[ $stderr == *"t.csv:62: has 2 cells; expected 3 as in the first row; 3 rows of another form in all: lines 62, 63 and 64"*"--drop-bad-rows"* ]]
  sotto data import t.csv --name t --label ill --drop-bad-rows
  [ "$status" -eq 0 ]
  [[ $stderr == *"3 rows of another form than 3 cells were left out: lines 62, 63 and 64"*"1 rows without a label or number were left out: line 65"* ]]
  [[ $output == *"60 records"*"rows left out: 4"* ]]
  [ "$(ls data)" = t ]
  # what happens to a row does not depend on others: the good rows are the same records as without the bad ones
  { echo "age,job,ill"; good 60 ,; } > good.csv
  "$SOTTO" data import good.csv --name good --label ill
  cmp data/t/features.npy data/good/features.npy
  cmp data/t/labels.npy data/good/labels.npy
  { echo "age,job,ill"; good 3 ,; for i in 1 2 3 4 5 6; do echo "$i"; done; } > bad.csv
  sotto data import bad.csv --name bad --label ill --drop-bad-rows
  [ "$status" -eq 65 ]
}

@test "under a schema bad cells are taken as it says and named, and bad labels can be left out" {
  cat > schema.yaml <<'END'
schema: sotto.schema/1
columns:
  - {name: age, type: number, bounds: [0, 100]}
  - {name: job, type: category, categories: [cook, nurse]}
  - {name: ill, type: label, classes: ['no', 'yes']}
END
  { echo "age,job,ill"; good 60 ,; echo "old,cook,no"; echo "?,pilot,maybe"; } > t.csv
  sotto data import t.csv --name t --schema schema.yaml
  [ "$status" -eq 0 ]
  [[ $stderr == *"column 'age': 1 cells are no number and count as missing, such as 'old': line 62"* ]]
  [[ $stderr == *"column 'job': 1 cells are not among the categories, such as 'pilot': line 63"* ]]
  [[ $stderr == *"column 'ill': 1 labels are not among the classes and count as 'no', such as 'maybe': line 63"* ]]
  [[ ${lines[3]} =~ ^\ \ age\ +number\ +1\ +1 ]]
  sotto data import t.csv --name u --schema schema.yaml --drop-bad-rows
  [[ $output == *"61 records"*"rows left out: 1"* ]]
  sotto data import t.csv --name v --schema schema.yaml --missing old
  [ "$status" -eq 64 ]
  # an unknown class that the schema foresees makes no bad row
  sed -i "s/'yes'\]/'yes'], other: 'no'/" schema.yaml
  sotto data import t.csv --name v --schema schema.yaml --drop-bad-rows
  [[ $output == *"62 records"* ]]
}

@test "codes are no numbers: training and splitting ask for an encoding" {
  { echo "age,job,ill"; good 60 ,; } > t.csv
  "$SOTTO" data import t.csv --name t --label ill
  for verb in "train --data t --model mlp -o m.safetensors" "data split t --parts all=60 -o s"; do
    # shellcheck disable=SC2086 # words of a command
    sotto $verb
    [ "$status" -eq 65 ]
    [[ $stderr == *"data set 't' is a table with 1 columns of category codes"*"hint: sotto data split t --one-hot"* ]]
  done
  [ ! -e s ]
  [ ! -e m.safetensors ]
}

@test "a drafted schema declares nothing until every column is stated" {
  { echo "id,age,job,ill"; good 60 , | sed 's/^/7,/'; echo "7,,NA,no"; } > t.csv
  sotto data schema t.csv --label ill --drop id -o draft.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"every epsilon stays conditional" ]]
  grep -qF 'from_rows: ["age", "job", "ill"]' draft.yaml
  grep -qxF '  - {name: "id", type: ignore}' draft.yaml # --drop states it
  grep -qF '{name: "age", type: number, bounds: [0, 100], fill: 49.5, was_missing: true} # taken' draft.yaml # 20 to 79, rounded outwards
  grep -qF '{name: "job", type: category, categories: ["cook", "nurse"]} # taken' draft.yaml
  grep -qF '{name: "ill", type: label, classes: ["no", "yes"]} # taken' draft.yaml
  encoding_of() { grep -o '"encoding":"[a-z]*"' "$1/all-features.npy.provenance.json"; }
  # at the import, at the split, and with public rows: fitted, with a warning
  "$SOTTO" data import t.csv --name drafted --schema draft.yaml
  "$SOTTO" data import t.csv --name plain --label ill
  for how in "drafted --fit-on all" "plain --schema draft.yaml" "drafted"; do
    # shellcheck disable=SC2086 # words of a command
    sotto data split $how --parts all=60 --one-hot -o d
    [ "$status" -eq 0 ]
    [[ $stderr == *"every epsilon on them is conditional"* ]]
    [ "$(encoding_of d)" = '"encoding":"fitted"' ]
  done
  "$SOTTO" head --features d/all-features.npy --labels d/all-labels.npy --classes 2 --trainer covariance --clip 2 --epsilon 1 \
    --delta 1e-3 --seed 1 -o h.safetensors
  grep -q '"proved": *"none"' h.safetensors.certificate.json
  run -1 grep -q sotto.encoding h.safetensors
  sotto data split drafted --parts all=60 --one-hot --private-fit 1 -o e
  [ "$status" -eq 65 ]
  # with one column left, still so
  sed -i 's/^from_rows: .*/from_rows: [age]/' draft.yaml
  "$SOTTO" data import t.csv --name partly --schema draft.yaml
  "$SOTTO" data split partly --parts all=60 --one-hot -o p
  [ "$(encoding_of p)" = '"encoding":"fitted"' ]
  sed -i '/^from_rows: /d' draft.yaml
  "$SOTTO" data import t.csv --name stated --schema draft.yaml
  sotto data split stated --parts all=60 --one-hot -o s
  [[ $stderr != *conditional* ]]
  [ "$(encoding_of s)" = '"encoding":"declared"' ]
  echo "from_rows: [years]" >> draft.yaml
  sotto data import t.csv --name wrong --schema draft.yaml
  [ "$status" -eq 78 ]
  [[ $stderr == *"'years' is not a column of this schema"* ]]
  sotto data schema t.csv -o x.yaml --schema draft.yaml
  [ "$status" -eq 64 ]
  sotto data schema nothing.csv -o x.yaml
  [ "$status" -eq 66 ]
  [ ! -e x.yaml ]
}

# Adult's look: blanks behind commas, '?' for missing, no header. Income follows from schooling, hours and marriage.
adult() { # rows, first
  LC_ALL=C awk -v n="$1" -v s="$2" 'BEGIN {
    split("Private,Self-emp-not-inc,Local-gov,?", work, ","); split("HS-grad,Bachelors,Masters,11th", school, ",")
    split("9,13,14,7", years, ","); split("Married-civ-spouse,Never-married,Divorced", wed, ",")
    split("Sales,Craft-repair,Exec-managerial,?", job, ","); split("Husband,Not-in-family,Wife", kin, ",")
    split("White,Black,Other", race, ",")
    srand(s)
    for (i = 0; i < n; i++) {
      e = int(rand() * 4) + 1; w = int(rand() * 3) + 1; h = 20 + int(rand() * 50); gain = rand() < .08 ? int(rand() * 9000) : 0
      z = (years[e] - 10) * .6 + (w == 1 ? 1.5 : -1) + (h - 45) * .05 + (gain > 0) * 2 + rand() - .5
      printf "%d, %s, %d, %s, %d, %s, %s, %s, %s, %s, %d, %d, %d, %s, %s\n", 18 + int(rand() * 60), work[int(rand() * 4) + 1],
        12000 + int(rand() * 500000), school[e], years[e], wed[w], job[int(rand() * 4) + 1], kin[int(rand() * 3) + 1],
        race[int(rand() * 3) + 1], (rand() < .5 ? "Male" : "Female"), gain, 0, h, (rand() < .9 ? "United-States" : "?"),
        (z > 1 ? ">50K" : "<=50K")
    }
  }'
}

# dirty FILE: 30 dirty rows: missing values, text in numbers, wrong numbers of cells, blanks, quotes, unknown categories and labels
dirty() {
  sed -i -E '101,105s/^[0-9]+/n\/a/; 106,110s/^[0-9]+/old/; 111,114s/$/, more/; 115,117s/, [^,]*$//; 118,120s/$/   /; 121,123s/^([0-9]+), ([^,]*)/"\1", "\2"/
              124,126s/Male|Female/Unknown/; 127,129s/<=50K|>50K//; 130s/^/"/' "$1"
}

@test "from a messy table to a private classifier and class names in four commands" {
  adult 6000 1 > adult.csv
  dirty adult.csv
  sotto data import adult.csv --name adult --schema "$BATS_TEST_DIRNAME/../../examples/adult-schema.yaml" --drop-bad-rows
  [ "$status" -eq 0 ]
  [[ $output == *"adult: 5989 records"*"rows left out: 11"* ]] # 8 of another form, 3 without a label
  sotto data split adult --parts train=5000,test=989 --one-hot -o adult
  [ "$status" -eq 0 ]
  [[ $stderr != *conditional* ]]
  sotto head --features adult/train-features.npy --labels adult/train-labels.npy --trainer dp-adam --epsilon 3 -o private.safetensors
  [ "$status" -eq 0 ]
  adult 50 2 | cut -d, -f1-14 > new.csv
  sed -i '2s/Male\|Female/Unknown/; 3s/^[0-9]*/?/' new.csv
  sotto predict --head private.safetensors --table new.csv --answers answers.csv
  [ "$status" -eq 0 ]
  [[ $stderr == *"column 'age': 1 cells hold no value and count as 53.5, such as '?': line 3"* ]]
  [[ $stderr == *"column 'sex': 1 cells have categories that the schema adult-schema.yaml does not list, such as 'Unknown': line 2"* ]]
  [ "$(head -1 answers.csv)" = row,class,probability ]
  [ "$(grep -cE '^[0-9]+,(<=50K|>50K),(0\.[0-9]+|1)$' answers.csv)" -eq 50 ]
  "$SOTTO" verify private.safetensors.certificate.json
  grep -q '"encoding": *"declared"\|declared' adult/train-features.npy.provenance.json
  sotto predict --head private.safetensors --features adult/test-features.npy --labels adult/test-labels.npy --json
  accuracy=$(sed -n 's/.*"accuracy": {"estimate": \([0-9.]*\).*"majority".*/\1/p' <<< "$output")
  LC_ALL=C awk "BEGIN {exit !($accuracy > 0.85)}" # the larger class: about .7
}

@test "the same on the real Adult, 30 of its rows dirty" {
  [ -e "${SOTTO_SHARED-}/data/adult.data.xz" ] || skip "no shared data folder"
  xz -dc "$SOTTO_SHARED/data/adult.data.xz" > adult.csv
  dirty adult.csv
  sotto data import adult.csv --name adult --schema "$BATS_TEST_DIRNAME/../../examples/adult-schema.yaml" --drop-bad-rows
  [[ $output == *"adult: 32550 records"*"rows left out: 11"* ]]
  "$SOTTO" data split adult --parts train=25000,test=7550 --one-hot -o adult
  "$SOTTO" head --features adult/train-features.npy --labels adult/train-labels.npy --trainer dp-adam --epsilon 1 -o private.safetensors
  head -n 100 adult.csv > new.csv
  sotto predict --head private.safetensors --table new.csv --answers answers.csv
  [ "$(grep -cE '^[0-9]+,(<=50K|>50K),(0\.[0-9]+|1)$' answers.csv)" -eq 100 ]
  sotto predict --head private.safetensors --features adult/test-features.npy --labels adult/test-labels.npy --json
  accuracy=$(sed -n 's/.*"accuracy": {"estimate": \([0-9.]*\).*"majority".*/\1/p' <<< "$output")
  LC_ALL=C awk "BEGIN {exit !($accuracy > 0.82)}" # the larger class: .76; two runs gave .85
}

@test "names and cells of other scripts, and with control characters, keep the summary a table" {
  {
    printf 'größe,ort,ill\n'
    for i in $(seq 20); do printf '%s,%s,%s\n' "$i" "東京東京東京東京東京東京東京東京東京東京" "$((i % 2))"; done
    for i in $(seq 20); do printf ',"two\nlines \x1b[31m",%s\n' "$((i % 2))"; done
  } > t.csv
  printf 'schema: sotto.schema/1\ncolumns:\n  - {name: "größe", type: number, bounds: [0, 1000]}\n  - {name: ort, type: category, categories: ["x"]}\n  - {name: ill, type: label, classes: ["0", "1"]}\n' > t.yaml
  sotto data import t.csv --name t --label ill
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq 7 ]
  [ "${lines[3]}" = "  größe                     number         20           0  1 to 20, mean 10.5" ]
  [ "${lines[4]}" = "  ort                       category        0           0  2: two?lines ?[31m 20, 東京東京東京東京... 20" ]
  sotto data import t.csv --name declared --schema t.yaml
  [ "$status" -eq 0 ]
  [ "${lines[3]}" = "  größe                     number         20           0  1 to 500, mean 255.25, with the schema's fill for the missing ones" ]
  grep -q "^sotto: warning: t.csv: column 'ort': 40 cells are not among the categories, such as '東京東京東京" <<< "$stderr"
  iconv -f utf-8 -t utf-8 <<< "$stderr" > again
  [ "$(cat again)" = "$stderr" ]
}
