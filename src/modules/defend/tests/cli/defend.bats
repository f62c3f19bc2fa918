#!/usr/bin/env bats
# defend: defended rows and their record, what an attacker still learns, one clear line for what cannot be defended.

bats_require_minimum_version 1.5.0
load ../../../../../tests/support/npy

u1() { for v; do printf "\\x$(printf %02x "$v")"; done; }
half() { printf '\0\0\0\x3f'; } # .5 as little-endian float32
one() { printf '\0\0\x80\x3f'; }
zero() { printf '\0\0\0\0'; }

setup() {
  dir=$(mktemp -d)
  cd "$dir"
  # answers to members are confident, the others are not
  for i in 1 2 3 4; do one; zero; zero; zero; one; zero; done | npy m.npy '<f4' '8, 3'
  for i in 1 2 3 4; do half; half; zero; half; zero; half; done | npy n.npy '<f4' '8, 3'
  u1 0 1 0 1 0 1 0 1 | npy ym.npy '|u1' '8,'
  u1 2 1 2 1 2 1 2 1 | npy yn.npy '|u1' '8,'
}
teardown() { rm -rf "$dir"; }

# refused CODE TEXT COMMAND...: that exit code, exactly one line with that text (and perhaps a hint), and no new file
refused() {
  local code=$1 text=$2 before after
  shift 2
  before=$(ls)
  status=0
  "$@" > /dev/null 2> "$BATS_TEST_TMPDIR/said" || status=$?
  stderr=$(< "$BATS_TEST_TMPDIR/said")
  after=$(ls)
  [ "$status" -eq "$code" ] || { echo "$status: $stderr"; return 1; }
  [ "$before" = "$after" ] || { echo "left: $after"; return 1; }
  [[ $stderr == *"$text"* ]] || { echo "$stderr"; return 1; }
  [ "$(grep -vc '^hint: ' <<< "$stderr")" -eq 1 ]
}

@test "the list names defences, budgets and settings" {
  run "$SOTTO" defend --list
  [ "$status" -eq 0 ]
  [[ $output == *memguard*uniform-confidence* ]]
  [[ $output == *"budget: expected L1"*"c3"* ]]
}

@test "one input gives a file and its record" {
  "$SOTTO" defend uniform-confidence --input m.npy --labels ym.npy -o out.npy > said
  grep -q 'labels kept: 1.0000; accuracy before 1.0000' said
  grep -q 'no differential privacy' said
  grep -q '"defence": "uniform-confidence"' out.npy.defence.json
  "$SOTTO" inspect out.npy --json | tr -d ' \n' | grep -q '"shape":\[8,3\]'
}

@test "several inputs give a folder; attackers before, after and adaptive" {
  "$SOTTO" defend memguard --input m.npy:1 --input n.npy:0 --known m.npy:1 --known n.npy:0 --labels ym.npy --labels yn.npy \
    --attacker m.npy:1 --attacker n.npy:0 --adaptive --set epochs=60 --budget 2 -o out --json > said
  ls out | tr '\n' ' ' | grep -qx 'defence.json m.npy m.npy.provenance.json n.npy n.npy.provenance.json '
  grep -q '"schema":"sotto.defend/1"' said
  grep -q '"before":{"attackers":\[{"name":"network","accuracy":{"estimate":1.0,' said
  grep -q '"adaptive":{"attackers"' said
  grep -q '{"name":"label only","accuracy":{"estimate":1.0,' said
}

@test "no budget, no change" {
  "$SOTTO" defend memguard --input m.npy --known m.npy:1 --known n.npy:0 --set epochs=5 --budget 0 -o out.npy > said
  cmp m.npy out.npy
}

@test "what cannot be defended is refused in one line" {
  refused 64 "a defence by name" "$SOTTO" defend --input m.npy -o out.npy
  refused 64 "defence 'shield' is unknown; expected memguard" "$SOTTO" defend shield --input m.npy -o out.npy
  refused 65 "budget must be >= 0 (got -1)" "$SOTTO" defend uniform-confidence --input m.npy --budget -1 -o out.npy
  refused 64 "needs rows with known protected labels; give --known ROWS.npy:SECRET" "$SOTTO" defend memguard --input m.npy -o out.npy
  refused 64 "defend: --known needs a protected label for its rows; give it as" "$SOTTO" defend memguard --input m.npy --known m.npy -o out.npy
  refused 64 "is neither a file nor a whole number >= 0" "$SOTTO" defend memguard --input m.npy --known m.npy:in -o out.npy
  refused 65 "every known row has the protected label 1" "$SOTTO" defend memguard --input m.npy --known m.npy:1 -o out.npy
  u1 0 1 0 | npy three.npy '|u1' '3,'
  refused 65 "three.npy has 3 values but n.npy has 8 rows" "$SOTTO" defend memguard --input n.npy:three.npy -o out.npy
  refused 66 "none.npy" "$SOTTO" defend memguard --input none.npy -o out.npy
  refused 64 "--adaptive needs --attacker" "$SOTTO" defend uniform-confidence --input m.npy --adaptive -o out.npy
  refused 64 "defend: --input needs a protected label for its rows; give it as" "$SOTTO" defend uniform-confidence --input m.npy --attacker m.npy:1 -o out.npy
  refused 64 "is not a parameter of" "$SOTTO" defend uniform-confidence --input m.npy --set strength=1 -o out.npy
}

@test "posteriors that are no probabilities are refused by file and row" {
  { one; one; zero; one; zero; zero; } | npy sum.npy '<f4' '2, 3'
  refused 65 "sum.npy: row 0 sums to 2; expected probabilities that sum to 1" "$SOTTO" defend uniform-confidence --input sum.npy -o out.npy
  { one; zero; zero; printf '\0\0\0\x40'; printf '\0\0\x80\xbf'; zero; } | npy logits.npy '<f4' '2, 3'
  refused 65 "logits.npy: row 1, column 0 is 2; expected probabilities from 0 to 1" \
    "$SOTTO" defend uniform-confidence --input logits.npy -o out.npy
}

@test "smoothing is now called temperature; the old name works and warns with one line" {
  "$SOTTO" defend temperature --input n.npy --set temperature=2 --budget 2 -o a.npy > said 2> warned
  [ ! -s warned ]
  "$SOTTO" defend smoothing --input n.npy --set temperature=2 --budget 2 -o b.npy > said 2> warned
  grep -qF "the defence 'smoothing' is now called 'temperature'" warned
  [ "$(wc -l < warned)" -eq 1 ]
  cmp a.npy b.npy
  "$SOTTO" defend --list > list
  grep -q '^temperature ' list
  run -1 grep -q '^smoothing' list
}

@test "protected labels are a number, a table or an archive; rows come from a pipe" {
  defended() { "$SOTTO" defend uniform-confidence --input "$1" -o e.npy --quiet > /dev/null; }
  defended m.npy
  mv e.npy d.npy
  printf '%s\n' 0 1 0 1 0 1 0 1 > y.csv
  python3 -c 'import zipfile; zipfile.ZipFile("stored.npz", "w").write("ym.npy", "y.npy")'
  for input in m.npy:3 m.npy:y.csv m.npy:stored.npz:y; do
    defended "$input"
    cmp d.npy e.npy
  done
  cat m.npy | defended -
  cmp d.npy e.npy
  grep -q "read from a pipe" e.npy.defence.json
}

@test "a name that is nearly a defence: the error ends in the one that was meant" {
  run "$SOTTO" defend memgard --input m.npy -o out.npy
  [ "$status" -eq 64 ]
  [[ "$output" == *"; did you mean 'memguard'?" ]]
  [ ! -e out.npy ]
}

@test "of several ranks one works, the others end in silence" {
  run env OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=0 "$SOTTO" defend --list
  [ "$status" -eq 0 ]
  [[ "$output" == *memguard* ]]
  run env OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=3 "$SOTTO" defend --list
  [ "$status" -eq 0 ]
  [ -z "$output" ]
}

@test "rows that trained a defence shaped its rows: a private training on them is refused, and nothing is charged" {
  export SOTTO_DATA_DIR=$PWD/data XDG_DATA_HOME=$PWD/home
  { echo "age,height,ill"
    for i in $(seq 0 119); do echo "$((i % 90)),$((150 + i % 47)),$((i % 2))"; done; } > people.csv
  "$SOTTO" data import people.csv --name people --dataset-id people --label last --quiet
  "$SOTTO" data split people --parts train=60 -o q --quiet
  "$SOTTO" defend attriguard --input q/train-features.npy --known q/train-features.npy:q/train-labels.npy --set epochs=2 --quiet -o d.npy > said
  grep -q '"what":"defence","name":"train-features.npy"' d.npy.provenance.json
  private=(--labels q/train-labels.npy --classes 2 --trainer dp-gd --steps 5 --epsilon 1 --delta 1e-4 --quiet -o p.safetensors)
  refused 65 "the defence train-features.npy was made from row " "$SOTTO" head --features d.npy "${private[@]}"
  mkdir -p home
  run -1 grep -rE '"event":"re[ls]e' home
}
