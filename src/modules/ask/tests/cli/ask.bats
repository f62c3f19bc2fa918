#!/usr/bin/env bats
# sotto ask: what is refused before anything is charged, the charge before the table is read, and answers from it.
# shards: 3

bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  export XDG_DATA_HOME="$BATS_TEST_TMPDIR/share"
  root=$(cd "$BATS_TEST_DIRNAME/../../../../.." && pwd)
  verifier="$root/verifier/sotto-verify.py"
  cat > s.yaml <<'YAML'
schema: sotto.schema/1
columns:
  - {name: who, type: person}
  - {name: age, type: number, bounds: [0, 100], fill: 50}
  - {name: crp, type: number, bounds: [0, 40]}
  - {name: ward, type: category, categories: [A, B]}
  - {name: out, type: label, classes: [yes, no]}
YAML
  python3 - <<'PY'
with open("t.csv", "w") as f:
    f.write("who,age,crp,ward,out\n")
    for i in range(2000):
        f.write(f"p{i // 4},{i % 101},{'' if i % 10 == 0 else 10 + 20 * (i % 2)},{'AB'[i % 2]},{'yes' if i % 4 else 'no'}\n")
PY
  schema=(--schema s.yaml --quiet)
  asked=("${schema[@]}" --dataset-id clinic)
}

# FILE ...: both verifiers derive the sensitivity from the queries.
verified() {
  local file=$1
  shift
  run "$SOTTO" verify "$file.certificate.json" --output "$file" "$@"
  [ "$status" -eq 0 ]
  [[ "$output" == *"proved       sensitivity and account, for the stated queries of a table"* ]]
  run python3 "$verifier" "$file" "$@"
  [ "$status" -eq 0 ]
  [[ "$output" == *"the stated queries of a table"* ]]
}

@test "answers of queries, with a certificate that verifies, and one charge" {
  run "$SOTTO" ask t.csv 'mean age; count; mean crp by ward as by-ward; count where age >= 50 and out = yes' 'histogram age 0:100:50; variance age' 'covariance age, crp; correlation age, crp; correlation crp, crp as self' 'quantile age .25 .5 with interval; median crp by ward with interval; quantile age .1 .9 as ends' "${asked[@]}" --person none --epsilon 5 --delta 1e-6 -o a.csv
  [ "$status" -eq 0 ]
  [[ "$output" == *"a.csv: gaussian noise"*"(5, 1e-06)-differentially private under replace-one adjacency"* ]]
  [ "$(head -1 a.csv)" = "query,ward,age,statistic,value,low,high,deviation,public" ]
  grep -q '^count,,,count,2000,2000,2000,0,yes$' a.csv
  python3 - <<'PY'
import csv
rows = list(csv.DictReader(open("a.csv")))
get = lambda q, **k: [float(r["value"]) for r in rows if r["query"] == q and all(r[c] == v for c, v in k.items())]
assert abs(get("mean age")[0] - 49.6) < 1
assert abs(get("by-ward", ward="A")[0] - 10) < 1 and abs(get("by-ward", ward="B")[0] - 30) < 1
assert abs(get("count where age >= 50 and out = yes")[0] - 754) < 40
assert abs(get("histogram age 0:100:50", age="[50,100]")[0] - 1001) < 50
assert all(abs(float(r["value"]) - {"quantile 0.25": 25, "quantile 0.5": 49}[r["statistic"]]) < 6 for r in rows if r["query"] == "quantile age 0.25 0.5 with interval")
# deviations of .013 and .016 over 80 runs: six and nine of them are allowed
assert abs(get("correlation age, crp")[0]) < .08 and abs(get("self")[0] - 1) < .15
for r in rows: # deviations of the noise are .001 of these bounds
    if r["statistic"] == "covariance" or r["query"].endswith("interval") and not r["ward"].startswith("("):
        assert float(r["low"]) <= float(r["value"]) <= float(r["high"]) and float(r["high"]) - float(r["low"]) < 40
assert abs(get("variance age")[0] - 841.6) < 40
for r in rows: # chosen one by one: half a percent of the rows is .3 ranks in 20 deviations
    assert r["query"] != "ends" or abs(float(r["value"]) - {"quantile 0.1": 9, "quantile 0.9": 90}[r["statistic"]]) < 6 and r["low"] == r["high"] == r["deviation"] == ""
assert len(get("quantile age 0.25 0.5 with interval")) == 2 and abs(get("quantile crp 0.5 by ward with interval", ward="B")[0] - 30) < 2
assert all(float(r["low"]) <= float(r["value"]) <= float(r["high"]) for r in rows if r["low"] and r["value"])
PY
  verified a.csv --ledger share/sotto/ledger/clinic.jsonl
  python3 -c 'import json; assert {q["query"]: q["cells"] for q in json.load(open("a.csv.certificate.json"))["statistic"]["queries"]}["variance age"] == 1'
  [ "$(grep -c '"event":"release"' share/sotto/ledger/clinic.jsonl)" -eq 1 ]
  sed -i 's/yes$/no/' a.csv
  run "$SOTTO" verify a.csv.certificate.json --output a.csv
  [ "$status" -ne 0 ]
}

@test "a wrong query names query, character and a way out; nothing is read and nothing charged" {
  rm t.csv && mkfifo t.csv # reading it would wait for ever
  run timeout 20 "$SOTTO" ask t.csv 'mean age; histogram wart' "${asked[@]}" --person none --epsilon 1 -o a.csv
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: ask: query 2, character 11: 'wart' is no column of s.yaml; did you mean 'ward'?" ]
  for query in 'count by ward from data' 'mean age with interval'; do
    run timeout 20 "$SOTTO" ask t.csv "$query" "${asked[@]}" --person none --epsilon 1 -o a.csv
    [ "$status" -eq 64 ]
    [[ "$output" == *"ask: query 1, character "*"not available"* ]]
  done
  for query in 'mean crp per person' 'count persons where out = yes'; do
    run timeout 20 "$SOTTO" ask t.csv "$query" "${asked[@]}" --person none --epsilon 1 -o a.csv
    [ "$status" -eq 64 ]
    [[ "$output" == *"ask: '$query' is of persons; give --person COLUMN and --rows-per-person M"* ]]
  done
  run timeout 20 "$SOTTO" ask t.csv 'mean crp per person' "${asked[@]}" --person who --rows-per-person 2 --epsilon 1 -o a.csv
  [ "$status" -eq 64 ]
  [[ "$output" == *"'per person' reads the table twice, and t.csv is a pipe"* ]]
  [ ! -e share ]
  [ ! -e a.csv ]
}

@test "other bad input is refused before the charge" {
  run "$SOTTO" ask t.csv 'mean age' --schema s.yaml --epsilon 1 --person none -o a.csv
  [ "$status" -eq 64 ]
  [[ "$output" == *"name the private data set with --dataset-id"* ]]
  run "$SOTTO" ask t.csv 'mean age' "${asked[@]}" --epsilon 1 -o a.csv
  [ "$status" -eq 64 ]
  [[ "$output" == *"declares the persons of column 'who', but not how many rows of each count; give --rows-per-person M, or --person none"* ]]
  run "$SOTTO" ask t.csv 'mean age' "${asked[@]}" --epsilon 1 --person who -o a.csv
  [ "$status" -eq 64 ]
  [[ "$output" == *"but not how many rows of each count"* ]]
  sed 's/type: person/type: person, rows: 3/' s.yaml > stated.yaml
  for contradiction in '--person none' '--rows-per-person 2' '--person who --rows-per-person 4' '--person ward'; do
    # shellcheck disable=SC2086
    run "$SOTTO" ask t.csv 'mean age' --schema stated.yaml --dataset-id clinic --epsilon 1 $contradiction -o a.csv
    [ "$status" -eq 64 ]
    [[ "$output" == *"states the unit of privacy: a person of column 'who', of whom 3 rows count"* || "$contradiction" == *ward ]]
  done
  run "$SOTTO" ask t.csv 'mean age' "${asked[@]}" --epsilon 1 --person none --rows-per-person 2 -o a.csv
  [ "$status" -eq 64 ]
  [[ "$output" == *"--rows-per-person needs a person"* ]]
  run "$SOTTO" ask t.csv 'mean age' "${asked[@]}" --epsilon 1 --person ward --rows-per-person 2 -o a.csv
  [ "$status" -eq 64 ]
  run "$SOTTO" ask t.csv 'mean age' "${asked[@]}" --person none -o a.csv
  [ "$status" -eq 64 ]
  run "$SOTTO" ask none.csv 'mean age' "${asked[@]}" --person none --epsilon 1 -o a.csv
  [ "$status" -eq 66 ]
  run "$SOTTO" ask t.csv 'mean age' "${asked[@]}" --person none --epsilon 1 -o no/where.csv
  [ "$status" -eq 73 ]
  { cat s.yaml; echo "from_rows: [age]"; } > drafted.yaml
  run "$SOTTO" ask t.csv 'mean age' --schema drafted.yaml --dataset-id clinic --person none --epsilon 1 -o a.csv
  [ "$status" -eq 64 ]
  [[ "$output" == *"lists columns under from_rows"* ]]
  [ ! -e share ]
}

@test "beyond the budget nothing is read; a failed read stays charged" {
  "$SOTTO" ask t.csv 'mean age' "${asked[@]}" --person none --epsilon 1 --budget-epsilon 1.5 -o a.csv
  mv t.csv u.csv
  mkfifo t.csv
  run timeout 20 "$SOTTO" ask t.csv 'mean age' "${asked[@]}" --person none --epsilon 1 -o b.csv
  [ "$status" -eq 77 ]
  [ ! -e b.csv ]
  run "$SOTTO" ask <(echo who,age) 'mean age' "${asked[@]}" --person none --epsilon .25 -o b.csv
  [ "$status" -eq 65 ]
  [[ "$output" == *"epsilon 0.25 at delta 0 (replace-one) was charged"* ]]
  [ ! -e b.csv ]
  [ "$(grep -c '"event":"release"' share/sotto/ledger/clinic.jsonl)" -eq 2 ]
}

@test "the header is checked before the charge, and decides how columns are divided; a pipe is read behind it" {
  for header in 'who,age,crp,ward' 'who,age,crp,ward,out,more' 'who,age,crp,ward,age' 'age,crp,ward,out' 'who;age,crp,ward,out'; do
    { echo "$header"; echo 'p1,2,3,A,yes'; } > wrong.csv
    run "$SOTTO" ask wrong.csv 'mean age; count by out' "${asked[@]}" --person who --rows-per-person 1 --epsilon 1 -o a.csv
    [ "$status" -eq 65 ]
    [[ "$output" == *"wrong.csv: "* && "$output" != *charged* ]]
  done
  : > empty.csv
  run "$SOTTO" ask empty.csv 'mean age' "${asked[@]}" --person none --epsilon 1 -o a.csv
  [ "$status" -eq 65 ]
  [[ "$output" == *"contains no rows"* ]]
  [ ! -e share ]
  # nothing that stands in a record changes how the header is read
  { printf '\xef\xbb\xbf\r\nout;who;"age";crp;ward\r\n'; for _ in {1..30}; do echo 'a|b|c|d;1;2;3;4,5,6'; done; } > odd.csv
  "$SOTTO" ask odd.csv 'count; mean age' "${asked[@]}" --person who --rows-per-person 4 --epsilon 1000 -o a.csv
  grep -q '^count,count,4,4,4,0,yes$' a.csv
  awk -F, '/^mean age/ { exit !($3 > 1 && $3 < 3) }' a.csv
  cp t.csv u.csv
  for file in u.csv <(cat u.csv); do
    "$SOTTO" ask "$file" 'count; mean age by ward' "${schema[@]}" --person who --rows-per-person 3 --epsilon 1 --insecure-noise-seed 7 --dataset-id "pipe$((++n))" -o "$n.csv"
  done
  cmp 1.csv 2.csv
  echo 'who,age' > u.csv
  run bash -c 'cat u.csv | timeout 20 "$0" ask /dev/stdin "$@"' "$SOTTO" 'mean age' "${schema[@]}" --dataset-id other --person none --epsilon 1 -o b.csv
  [ "$status" -eq 65 ]
  [[ "$output" == *"column 'crp' is missing"*"was charged"* ]]
}

# cells FILE: what its rows give without noise, and all that is said.
cells() {
  rm -rf share
  "$SOTTO" ask "$1" 'count; count by ward; count by out; sum age' --schema s.yaml --dataset-id d --person "${who[@]}" --epsilon 1e9 --insecure-noise-seed 1 -o o.csv > said.txt 2>&1 || return
  awk -F, '/^count/ { printf "%s%s=%.0f ", $2, $3, $5 }' o.csv
}

@test "no record decides the exit code: what cannot be read is missing, in its cell or its row" {
  sed -n '1,41p' t.csv > plain.csv
  for unit in none 'who --rows-per-person 4'; do
    read -ra who <<< "$unit"
    base=$(cells plain.csv)
    [[ $base == *"=40 A"* ]]
    cp said.txt expected.txt
    for change in '5s/,[AB],/,\xff,/' '5s/,[AB],/,\x00,/' '5s/yes/\xc3/' '5s/,[AB],.*/,/' '5s/$/,more/' '5s/^/"/' '5s/yes/y"s/' '5s/,/,\r,/' '2s/.*/p0/' '5s/^p[0-9]*/\xff/'; do
      LC_ALL=C sed "$change" plain.csv > bad.csv
      run -1 cmp -s plain.csv bad.csv
      got=$(cells bad.csv)
      [ "$unit" != none ] || [[ $got == *"=40 A"* ]]
      [ "$unit" != none ] || diff expected.txt said.txt
    done
  done
  LC_ALL=C sed '5s/,[AB],/,\xff,/' plain.csv > bad.csv # the other cells of the row stay
  who=(none)
  [[ $(cells bad.csv) == *"(other)=1 "*"yes=30 "* ]]
}

@test "a schema needs no label" {
  grep -v label s.yaml > plain.yaml
  cut -d, -f1-4 t.csv > plain.csv
  "$SOTTO" ask plain.csv 'mean age; count by ward; histogram age [0, 50, 100] where ward = A' --schema plain.yaml --quiet --dataset-id plain --person none --epsilon 100 -o a.csv
  awk -F, '/^mean age/ { exit !($5 > 49 && $5 < 50.2) }' a.csv
  verified a.csv
  run "$SOTTO" ask plain.csv 'count by out' --schema plain.yaml --dataset-id plain --person none --epsilon 1 -o b.csv
  [ "$status" -eq 64 ]
  [[ "$output" == *"'out' is no column of plain.yaml; expected one of age, crp, ward"* ]]
  run "$SOTTO" ask t.csv 'mean age' --schema plain.yaml --dataset-id plain --person none --epsilon 1 -o b.csv
  [ "$status" -eq 65 ]
  [[ "$output" == *"column 'out' is not described"* ]]
  { sed 's/^columns/header: false\ncolumns/' plain.yaml; } > bare.yaml
  tail -n +2 plain.csv > bare.csv
  "$SOTTO" ask bare.csv 'mean age; count' --schema bare.yaml --quiet --dataset-id bare --person who --rows-per-person 4 --epsilon 100 -o c.csv
  grep -q '^count,count,2000,2000,2000,0,yes$' c.csv
  { printf '\xef\xbb\xbf'; cat bare.csv; } > marked.csv # the mark belongs to no cell
  for file in bare marked; do
    "$SOTTO" ask $file.csv 'count by ward; sum age; count' --schema bare.yaml --quiet --dataset-id $file --person who --rows-per-person 4 --epsilon 9 --insecure-noise-seed 3 -o $file.answers
  done
  cmp bare.answers marked.answers
  printf 'schema: sotto.schema/1\ncolumns:\n  - {name: age, type: number, bounds: [0, 100]}\n' > one.yaml
  cut -d, -f2 t.csv > one.csv
  "$SOTTO" ask one.csv 'median age' --schema one.yaml --quiet --dataset-id one --epsilon 10 -o e.csv
  run "$SOTTO" data import plain.csv --schema plain.yaml -o set
  [ "$status" -ne 0 ] # to learn from a table takes a label
}

@test "of each person the first rows count, and the guarantee is a person's" {
  run "$SOTTO" ask t.csv 'count; count where out = no' "${asked[@]}" --person who --rows-per-person 3 --epsilon 1e3 --delta 1e-6 -o a.csv
  [ "$status" -eq 0 ]
  [[ "$output" == *"unit of privacy: one person (column who, at most 3 rows each)"* ]]
  grep -q '^count,count,1500,1500,1500,0,yes$' a.csv
  sed 's/type: person/type: person, rows: 3/' s.yaml > stated.yaml
  for unit in '' '--person who' '--rows-per-person 3'; do # the schema's
    # shellcheck disable=SC2086
    run "$SOTTO" ask t.csv 'count; count where out = no' --schema stated.yaml --dataset-id "stated$((++n))" $unit --epsilon 1 -o s.csv
    [ "$status" -eq 0 ]
    [[ "$output" == *"unit of privacy: one person (column who, at most 3 rows each)"* ]]
    grep -q '^count,count,1500,1500,1500,0,yes$' s.csv
  done
  "$SOTTO" ask t.csv 'count where out = no' "${schema[@]}" --rows-per-person 3 --epsilon 1 --dataset-id named -o s.csv
  # of every person the first row is a no, and it is kept
  awk -F, '/^count where/ { exit !($3 > 495 && $3 < 505) }' a.csv
  for p in 1 2; do # 3 rows each cost as much as 3 times the noise
    "$SOTTO" ask t.csv 'count where out = no' "${schema[@]}" --person who --rows-per-person $p --epsilon 1 --dataset-id "d$p" -o "$p.csv"
  done
  awk -F, 'FNR == 2 { d[FILENAME] = $6 } END { exit !(d["2.csv"] / d["1.csv"] > 1.999 && d["2.csv"] / d["1.csv"] < 2.001) }' 1.csv 2.csv
  verified 2.csv
  sed 's/"mass": [0-9]*/"mass": 1073741824/' 2.csv.certificate.json > forged.json # half of its mass is half of its sensitivity
  run "$SOTTO" verify forged.json --output 2.csv
  [ "$status" -eq 1 ]
  [[ "$output" == *"queries of 1 cells have l1 2.14748365e+09"* ]]
  cp forged.json 2.csv.certificate.json
  run -1 python3 "$verifier" 2.csv
  [[ "$output" == *"queries of 1 cells have L1 2.14748365e+09"* ]]
}

@test "persons are counted once, and count once in a mean per person" {
  # p0 has 1 row of 100, p1 has 2 of 0 and 1, and so on to 12 rows: the mean of their means is not that of the rows
  python3 - <<'PY'
with open("u.csv", "w") as f:
    f.write("who,age,crp,ward,out\n")
    for k in range(12):
        for i in range(12 * 50):
            if i % 12 >= k:
                f.write(f"p{k}-{i // 12},{100 if k == 11 else i % 12 - k},{10 * (i % 3)},{'AB'[i % 2]},{'yes' if i % 12 == 11 else 'no'}\n")
PY
  queries=('count persons; count; count persons where age = 100; count persons by ward; mean age per person; mean age; mean crp by ward per person')
  for how in gaussian laplace; do
    delta=0
    [ "$how" = laplace ] || delta=1e-6
    "$SOTTO" ask u.csv "${queries[@]}" "${schema[@]}" --dataset-id "$how" --person who --rows-per-person 4 --epsilon 200 --delta "$delta" -o $how.csv
    grep -q '^count persons,,count,600,600,600,0,yes$' $how.csv
    python3 - $how.csv <<'PY'
import csv, sys
people = {}
for row in csv.DictReader(open("u.csv")):
    people.setdefault(row["who"], []).append((float(row["age"]), float(row["crp"]), row["ward"]))
people = [rows[:4] for rows in people.values()]
flat = [row for rows in people for row in rows]
got = {(r["query"], r["ward"]): float(r["value"] or "nan") for r in csv.DictReader(open(sys.argv[1]))}
means = sum(sum(r[0] for r in rows) / len(rows) for rows in people) / len(people)
assert got["count", ""] == len(flat) and abs(got["count persons where age = 100", ""] - 50) <= 1
assert all(abs(got["count persons by ward", w] - sum(any(r[2] == w for r in rows) for rows in people)) <= 1 for w in "AB")
assert abs(got["mean age per person", ""] - means) < .1 and abs(got["mean age", ""] - sum(r[0] for r in flat) / len(flat)) < .1 and abs(means - got["mean age", ""]) > 2
for w in "AB":
    mass = sum(sum(r[2] == w for r in rows) / len(rows) for rows in people)
    assert abs(got["mean crp by ward per person", w] - sum(sum(r[1] for r in rows if r[2] == w) / len(rows) for rows in people) / mass) < .2
PY
    verified $how.csv
  done
  # what counts a person once costs the same for any cap; persons by key cost sqrt M
  for m in 1 9; do
    "$SOTTO" ask u.csv 'count persons where out = yes' "${schema[@]}" --dataset-id "w$m" --person who --rows-per-person $m --epsilon 1 --delta 1e-6 -o w$m.csv
    "$SOTTO" ask u.csv 'count persons by ward' "${schema[@]}" --dataset-id "k$m" --person who --rows-per-person $m --epsilon 1 --delta 1e-6 --raw -o k$m.csv
  done
  awk -F, 'FNR == 2 { d[FILENAME] = $(FILENAME ~ /w/ ? 6 : 7) } END { w = d["w9.csv"] / d["w1.csv"]; k = d["k9.csv"] / d["k1.csv"]; exit !(w > .9999 && w < 1.0001 && k > 2.9999 && k < 3.0001) }' w1.csv w9.csv k1.csv k9.csv
  sed -i 's/count persons by ward/count by ward/' k9.csv.certificate.json # as if rows were counted
  run "$SOTTO" verify k9.csv.certificate.json --output k9.csv
  [ "$status" -eq 1 ]
  run -1 python3 "$verifier" k9.csv
  sed -i 's/count persons where out = yes/count where out = yes/' w9.csv.certificate.json
  run -1 python3 "$verifier" w9.csv
  run "$SOTTO" verify w9.csv.certificate.json --output w9.csv
  [ "$status" -eq 1 ]
}

@test "seeded noise has the same bits on any number of threads, and says that it protects nobody" {
  for threads in 1 3; do
    "$SOTTO" ask t.csv 'crosstab ward x out; mean crp' "${schema[@]}" --person none --epsilon 1 --insecure-noise-seed 7 --threads $threads --dataset-id "s$threads" -o "$threads.csv"
  done
  cmp 1.csv 3.csv
  [[ "$(head -1 1.csv)" == "# noise was seeded"* ]]
  grep -q 'noise was seeded' 1.csv.certificate.json
}

@test "counts are whole, at least 0 and add up to the rows; --raw has them as they came out" {
  seed=(--person none --epsilon .05 --insecure-noise-seed 7)
  "$SOTTO" ask t.csv 'crosstab ward x out; count where age > 200; count by out where age > 200' "${schema[@]}" "${seed[@]}" --dataset-id tidy -o a.csv
  "$SOTTO" ask t.csv 'crosstab ward x out; count where age > 200; count by out where age > 200' "${schema[@]}" "${seed[@]}" --dataset-id raw --raw -o b.csv
  python3 - <<'PY'
import csv
tidy, raw = [[{**r, "value": float(r["value"])} for r in csv.DictReader(line for line in open(name) if line[0] != "#")] for name in ("a.csv", "b.csv")]
assert len(tidy) == len(raw) == 16 + 1 + 4
assert all(r["value"] >= 0 and r["value"] == int(r["value"]) and 0 <= float(r["low"]) <= float(r["high"]) <= 2000 for r in tidy)
assert sum(r["value"] for r in tidy if r["query"].startswith("crosstab")) == 2000
assert any(r["value"] < 0 for r in raw) and all(r["value"] != int(r["value"]) for r in raw)
PY
}

@test "-o OUT.json has the answers of the CSV and the noisy cells; queries come from a file too" {
  printf '# what the board asked\r\n\n  mean crp by ward as crp\n\tcrosstab ward x out; count\r\n# end' > q.txt
  seed=(--person none --epsilon 1 --delta 1e-6 --insecure-noise-seed 7)
  "$SOTTO" ask t.csv 'median age' --queries q.txt "${schema[@]}" "${seed[@]}" --dataset-id a -o a.json
  "$SOTTO" ask t.csv 'median age' 'mean crp by ward as crp' 'crosstab ward x out; count' "${schema[@]}" "${seed[@]}" --dataset-id b -o b.csv
  "$SOTTO" ask t.csv 'median age' --queries q.txt "${schema[@]}" "${seed[@]}" --dataset-id raw --raw -o raw.json
  "$root/tools/check-schema" a.json raw.json
  python3 - <<'PY'
import csv, json
doc = json.load(open("a.json"))
table = list(csv.DictReader(line for line in open("b.csv") if line[0] != "#"))
assert doc["rows"] == 2000 and doc["noise"] == "gaussian" and "seeded" in doc["warning"] and len(table) == len(doc["answers"]) == 1 + 4 + 16 + 1
for row, a in zip(table, doc["answers"]):
    assert row["query"] == a["query"] and row["statistic"] == a["statistic"] and (row["public"] == "yes") == a["public"]
    assert all(row[k] == a["keys"].get(k, "") for k in ("ward", "out"))
    assert all((float(row[k]) if row[k] else None) == a[k] for k in ("value", "low", "high", "deviation"))
assert [(q["name"], len(q["cells"])) for q in doc["queries"]] == [("quantile age 0.5", 1), ("crp", 12), ("crosstab ward x out", 16), ("count", 0)]
raw = json.load(open("raw.json"))
h, l, _ = doc["queries"][1]["cells"][:3]
assert raw["queries"] == doc["queries"] and abs(raw["answers"][1]["value"] - 40 * h / (h + l)) < 1e-9
assert doc["answers"][1]["deviation"] < raw["answers"][1]["deviation"] # wards of the cross table tell more about it
PY
  "$SOTTO" ask t.csv --queries q.txt "${asked[@]}" --person none --epsilon 1 -o c.json
  verified c.json
  printf '# nothing\n' > q.txt
  run "$SOTTO" ask t.csv --queries q.txt "${asked[@]}" --person none --epsilon 1 -o d.json
  [ "$status" -eq 64 ]
  [[ "$output" == *"there is no query"*"--queries FILE"* ]]
  printf 'count where out = yes\n\nmean age\nmean wart\n' > q.txt
  run "$SOTTO" ask t.csv 'median age' --queries q.txt "${asked[@]}" --person none --epsilon 1 -o d.json
  [ "$status" -eq 64 ]
  [[ "$output" == *"ask: query 4, character 6: 'wart' is no column"* ]]
  printf 'mean\0age' > q.txt
  run "$SOTTO" ask t.csv --queries q.txt "${asked[@]}" --person none --epsilon 1 -o d.json
  [ "$status" -eq 65 ]
  run "$SOTTO" ask t.csv --queries none.txt "${asked[@]}" --person none --epsilon 1 -o d.json
  [ "$status" -eq 66 ]
  [ ! -e d.json ]
  [ "$(grep -c '"event":"release"' share/sotto/ledger/clinic.jsonl)" -eq 1 ]
}

@test "--html writes one page with bars and a table for each query, and the budget before and after" {
  "$SOTTO" ask t.csv 'count' 'mean age' "${asked[@]}" --person none --epsilon .5 --budget-epsilon 3 -o first.json
  run "$SOTTO" ask t.csv 'count; mean crp by ward as <crp>; histogram age 0:100:50; correlation age, crp' "${asked[@]}" --person none --epsilon 1 --html -o a.json
  [ "$status" -eq 64 ] # no name of a query
  run "$SOTTO" ask t.csv 'count; mean crp by ward as crp; histogram age 0:100:50; mean age by out where crp > 39' "${asked[@]}" --person none --epsilon 1 --html -o a.json
  [ "$status" -eq 0 ]
  [[ "$output" == *"page: a.html" ]]
  python3 - <<'PY'
import html.parser, json
page, doc = open("a.html").read(), json.load(open("a.json"))
stack, void = [], {"meta", "path", "rect", "br"}
class Reader(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes):
        if tag not in void:
            stack.append(tag)
        assert not any(name in ("src", "href") for name, _ in attributes)
    def handle_endtag(self, tag):
        if tag not in void:
            assert stack.pop() == tag
Reader().feed(page)
assert not stack and page.count("<section") == 1 + 4 and page.count("<svg") == 4 and "nan" not in page.replace("finance", "")
assert page.count('class="whisker"') == len(doc["answers"]) and page.count("</tbody>") == 4 and "Public, free of charge" in page
assert "Spent before this call: epsilon 0.5. With it: epsilon 1.5." in page and "Intervals hold 95 % of the noise alone" in page
assert '<text x="182" y="15" text-anchor="end">A</text>' in page and page.count("(missing)</text>") == 3
for a in doc["answers"]:
    assert a["value"] is None or f"<td>{a['value']:.6g}</td>" in page
PY
  for output in a.csv .json; do
    run timeout 20 "$SOTTO" ask t.csv 'count by out' "${asked[@]}" --person none --epsilon .1 --html -o "$output"
    [ "$status" -eq 64 ]
    [[ "$output" == *"give --output OUT.json"* || "$output" == *"--html makes a page"* ]]
  done
  [ "$(grep -c '"event":"release"' share/sotto/ledger/clinic.jsonl)" -eq 2 ]
}

@test "--dry-run reads the schema alone, and says how far the noise may move each answer" {
  rm t.csv && mkfifo t.csv
  run timeout 20 "$SOTTO" ask t.csv 'mean age; count; sum crp; count where age >= 50; histogram age 0:100:50 as h; variance crp' --schema s.yaml --person none --epsilon 1 --delta 1e-6 --dry-run
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = "epsilon 1 at delta 1e-06, gaussian noise; 95 % of the answers lie" ]
  [ "${lines[2]}" = "  count: public, free" ]
  [[ "${lines[6]}" == "  variance crp: each of its 4 cells within "*" rows" ]]
  run timeout 20 "$SOTTO" ask t.csv 'histogram age 0:100:50 as h' --schema s.yaml --person none --epsilon 1 --delta 1e-6 --dry-run --json
  [ "$status" -eq 0 ]
  python3 -c 'import json, sys; (q,) = json.loads(sys.argv[1])["queries"]; assert abs(q["within"] - 1.95996 * 5.975) < .01 and q["unit"] == "rows" and q["cells"] == 3' "$output" # ask.md: sqrt 2 / mu
  run timeout 20 "$SOTTO" ask none.csv 'count by ward; sum age' --schema s.yaml --person who --rows-per-person 3 --epsilon 1 --dry-run --json
  [ "$status" -eq 0 ]
  # Laplace noise of scale 3 * 4 for two queries; a count by wards moves by 2, a sum of one cell by 1
  python3 -c 'import json, math, sys; a, b = (q["within"] for q in json.loads(sys.argv[1])["queries"]); t = math.log(20); assert abs(a / (12 * t) - 1) < 1e-5 and abs(b / (100 * 6 * t) - 1) < 1e-5' "$output"
  run timeout 20 "$SOTTO" ask t.csv 'mean wart' --schema s.yaml --person none --epsilon 1 --dry-run
  [ "$status" -eq 64 ]
  run timeout 20 "$SOTTO" ask t.csv 'mean age' --schema s.yaml --epsilon 1 --dry-run
  [ "$status" -eq 64 ]
  [ ! -e share ]
}

@test "what a dry run says is how far the answers of a call lie: 95 % of its intervals have that half width" {
  queries=('count where age >= 50; sum age; histogram ward; sum crp by ward')
  "$SOTTO" ask t.csv "${queries[@]}" "${asked[@]}" --person none --epsilon 1 --raw -o a.json
  "$SOTTO" ask t.csv "${queries[@]}" --schema s.yaml --person none --epsilon 1 --dry-run --json > f.json
  python3 - <<'PY'
import json
within = {q["query"]: q["within"] for q in json.load(open("f.json"))["queries"]}
answers = json.load(open("a.json"))["answers"]
assert len(answers) == 1 + 1 + 4 + 4
assert all(abs((a["high"] - a["low"]) / 2 / within[a["query"]] - 1) < 1e-6 for a in answers)
PY
}

@test "--simultaneous and --population make wider intervals, and every form of the answers says so" {
  queries=('count where out = no; mean crp by ward; sum age; variance age; quantile age .25 with interval; count')
  "$SOTTO" ask t.csv "${queries[@]}" "${schema[@]}" --person none --epsilon 1 --insecure-noise-seed 7 --dataset-id plain -o plain.json
  for how in --simultaneous --population '--simultaneous --population'; do
    # shellcheck disable=SC2086
    "$SOTTO" ask t.csv "${queries[@]}" "${schema[@]}" --person none --epsilon 1 --insecure-noise-seed 7 --dataset-id "d$((++n))" $how --html -o $n.json > /dev/null
    # shellcheck disable=SC2086
    "$SOTTO" ask t.csv "${queries[@]}" "${schema[@]}" --person none --epsilon 1 --insecure-noise-seed 7 --dataset-id "c$n" $how -o $n.csv
  done
  "$root/tools/check-schema" plain.json 1.json 3.json
  python3 - <<'PY'
import json
docs = [json.load(open(f"{name}.json")) for name in ("plain", "1", "2", "3")]
assert [(d["simultaneous"], d["intervals"]) for d in docs] == [(False, "noise"), (True, "noise"), (False, "noise and sampling"), (True, "noise and sampling")]
widths = [[a["high"] - a["low"] for a in d["answers"]] for d in docs]
for plain, at_once, population, both in zip(*widths):
    assert plain <= at_once <= both and plain <= population <= both
assert all(w[0] < min(w[1:3]) and max(w[1:3]) < w[3] for w in list(zip(*widths))[:1]) and widths[3][-1] == 0 # n is public
# Laplace noise alone: the half width of one answer of 8 at once is ln(160) / ln(20) of the usual one
raw = [d["answers"][5] for d in docs]
assert raw[0]["statistic"] == "sum" and abs((raw[1]["high"] - raw[1]["low"]) / (raw[0]["high"] - raw[0]["low"]) - 1.69413) < 1e-4
assert all(d["queries"] == docs[0]["queries"] and [a["value"] for a in d["answers"]] == [a["value"] for a in docs[0]["answers"]] for d in docs)
assert "All intervals hold at once with 95 % probability, of the noise alone" in open("1.html").read() and "Intervals hold 95 % of the noise and of sampling, approximately" in open("2.html").read()
PY
  [ "$(grep -c '^# ' 3.csv)" -eq 3 ]
  grep -q '^# all intervals hold at once with 95 % probability$' 1.csv
  grep -q '^# intervals are of noise and of sampling, approximately$' 2.csv
  run "$SOTTO" ask t.csv 'mean age' "${asked[@]}" --rows-per-person 2 --epsilon 1 --population -o d.csv
  [ "$status" -eq 64 ]
  [[ "$output" == *"'mean age' is of rows, and --population takes the persons as a sample; expected 'per person'"* ]]
  [ ! -e share/sotto/ledger/clinic.jsonl ]
  "$SOTTO" ask t.csv 'mean age per person; count persons where age > 50' "${asked[@]}" --rows-per-person 2 --epsilon 1 --population -o d.csv
  run "$SOTTO" ask t.csv 'count where out = no; sum age' --schema s.yaml --person none --epsilon 1 --simultaneous --dry-run
  [[ "${lines[0]}" == *"with 95 % probability all answers lie" ]]
}

@test "weights share the budget, and --max-error finds the smallest epsilon for one query" {
  queries=('count where age >= 50 weight 4 as half' 'histogram age 0:100:50 by ward; mean age')
  for how in equal squares largest; do
    "$SOTTO" ask t.csv "${queries[@]}" "${schema[@]}" --dataset-id "$how" --person none --epsilon 1 --delta 1e-6 --weights $how -o $how.csv
    verified $how.csv
  done
  # shares of mu: 4 / sqrt(4^2 + 1 + 1), sqrt(4 / (4 + sqrt 2 + 1)) and 4 / sqrt(4^2 + 2 + 1)
  awk -F, '/^half/ { d[FILENAME] = $8 } END { s = d["squares.csv"] / d["equal.csv"]; l = d["largest.csv"] / d["equal.csv"]; exit !(s > 1.1936 && s < 1.1941 && l > 1.0272 && l < 1.0276) }' equal.csv squares.csv largest.csv
  run "$SOTTO" ask t.csv "${queries[@]}" "${asked[@]}" --person none --max-error half=20 --delta 1e-6 -o a.csv
  [ "$status" -eq 0 ]
  awk -F, '/^half/ { w = $7 - $6 } END { exit !(w > 39.99 && w < 40.01) }' a.csv
  verified a.csv
  run "$SOTTO" ask t.csv "${queries[@]}" --schema s.yaml --person none --max-error half=20 --delta 1e-6 --dry-run
  [ "$status" -eq 0 ]
  [[ "${lines[1]}" == "  half: within 20 rows" ]]
  for wrong in half half=0 half=x 'mean age=1' other=1; do
    run "$SOTTO" ask t.csv "${queries[@]}" "${asked[@]}" --person none --max-error "$wrong" -o b.csv
    [ "$status" -eq 64 ]
    [[ "$output" == *"--max-error"* ]]
  done
  run "$SOTTO" ask t.csv "${queries[@]}" "${asked[@]}" --person none --max-error half=20 --epsilon 1 -o b.csv
  [ "$status" -eq 64 ]
  [ ! -e b.csv ]
}

@test "up to four quantiles are chosen one by one, and a certificate that says a smaller scale is refused" {
  for delta in 0 1e-6; do
    "$SOTTO" ask t.csv 'quantile age .25 .5 .75 as q; median crp by ward; mean age' "${schema[@]}" --dataset-id "d$delta" --person who --rows-per-person 2 --epsilon 20 --delta $delta -o a.csv
    verified a.csv --ledger "share/sotto/ledger/d$delta.jsonl"
    awk -F, '/^q,/ { n++; if ($4 < 20 || $4 > 80 || $5 != "" || $6 != "") exit 1 } END { exit n != 3 }' a.csv
    [ "$(grep -c choice_scale a.csv.certificate.json)" -eq 4 ]
    grep -q '"lower": 0' a.csv.certificate.json
    "$root/tools/check-schema" a.csv.certificate.json
    cp a.csv.certificate.json kept
    python3 - <<'PY'
import re
text = open("kept").read()
scale = float(re.search(r'"choice_scale": ([0-9.e+-]+)', text)[1])
for name, factor in (("lower", .999999999), ("higher", 1.1)):
    open(name, "w").write(text.replace(f'"choice_scale": {re.search(r"choice_scale.: ([0-9.e+-]+)", text)[1]}', f'"choice_scale": {scale * factor!r}', 1))
PY
    for file in lower higher; do
      cp $file a.csv.certificate.json
      code=1
      [ $file = lower ] || code=0
      run -$code "$SOTTO" verify a.csv.certificate.json --output a.csv
      [[ $code -eq 0 || "$output" == *"'quantile age 0.25 0.5 0.75' is chosen at scale"* ]]
      run -$code python3 "$verifier" a.csv
      [[ $code -eq 0 || "$output" == *"'quantile age 0.25 0.5 0.75' is chosen at scale"* ]]
    done
  done
  "$SOTTO" ask t.csv 'median age' "${asked[@]}" --person none --epsilon 1 -o b.json # a choice alone
  verified b.json
  run "$SOTTO" ask t.csv 'quantile age .1 .2 .3 .4 as q; quantile age .1 .2 .3 .4 .5 as tree' "${asked[@]}" --person none --epsilon 1 --dry-run
  [[ "$output" == *"q: each within "*" ranks"*"tree: each of its 255 cells within "* ]]
  run "$SOTTO" ask t.csv 'median age as q' "${asked[@]}" --person none --max-error q=50 --dry-run
  [[ "$output" == *"q: each within 50 ranks"* ]]
}

@test "single cells under pure noise share a radius, and a certificate that says a smaller scale is refused" {
  queries=('mean age; count where age >= 50; sum age; count where out = yes' 'histogram ward; median age')
  "$SOTTO" ask t.csv "${queries[@]}" "${asked[@]}" --person none --epsilon 20 -o a.csv
  verified a.csv --ledger share/sotto/ledger/clinic.jsonl
  "$root/tools/check-schema" a.csv.certificate.json
  [ "$(grep -c block_scale a.csv.certificate.json)" -eq 4 ]
  awk -F, '/^count where out/ { exit !($4 > 1490 && $4 < 1510) }' a.csv
  "$SOTTO" ask t.csv "${queries[@]}" 'count persons where out = yes; count persons where age > 3; mean age per person' "${schema[@]}" --dataset-id people --person who --rows-per-person 2 --epsilon 20 -o b.csv
  verified b.csv # those that a person moves only once stand apart
  [ "$(grep -c block_scale b.csv.certificate.json)" -eq 4 ]
  run "$SOTTO" ask t.csv "${queries[@]}" --schema s.yaml --person none --epsilon 20 --dry-run
  [[ "$output" == *"4 single cells share one radius: 0.56 of the deviation of Laplace noise"* ]]
  cp a.csv.certificate.json kept
  for change in 's/("block_scale": )[0-9]+/\11000/' '0,/"block_scale": [0-9]+/s/("block_scale": [0-9]+)/\11/' 's/, *$/,/;s/"cells": 1,/"cells": 2,/' '/block_scale/d'; do
    sed -E "$change" kept > a.csv.certificate.json
    run -1 cmp -s kept a.csv.certificate.json
    run "$SOTTO" verify a.csv.certificate.json --output a.csv
    [ "$status" -ne 0 ]
    run python3 "$verifier" a.csv
    [ "$status" -ne 0 ]
  done
}

@test "a certificate whose queries lack a member, or have one too many, is refused, on the verifier's page too" {
  cat > q.yaml <<'YAML'
schema: sotto.schema/1
columns:
  - {name: who, type: person}
  - {name: "age 7 with", type: number, bounds: [0, 100]}
  - {name: crp, type: number, bounds: [0, 40], fill: 1}
YAML
  sed '1s/age/age 7 with/' t.csv | cut -d, -f1-3 > q.csv
  export SOTTO_VERIFIER=$verifier SOTTO_RECORD=$PWD/record.jsonl
  "$SOTTO" ask q.csv 'quantile "age 7 with" .25 .5 as q; median crp with interval; quantile crp .1 .2 .3 .4 .5; mean crp; sum crp' 'count persons where crp > 3; mean crp per person' \
    --schema q.yaml --quiet --dataset-id q --person who --rows-per-person 2 --epsilon 20 -o a.csv
  verified a.csv
  python3 "$root/tests/cli/verify_recorder.py" a.csv > /dev/null
  cp a.csv.certificate.json kept
  cat > change.py <<'PY'
import json, sys
c = json.load(open("kept"))
queries = c["statistic"]["queries"]
q = {}
for one in queries:
    q.setdefault(one["query"].replace(" with interval", " tree"), one)
chosen, tree, mean = q['quantile "age 7 with" 0.25 0.5'], q["quantile crp 0.5 tree"], q["mean crp"]
match sys.argv[1]:
    case "no scale":
        del chosen["choice_scale"]
    case "one choice less": # of the same cells and norms
        chosen["query"] = 'quantile "age 7 with" 0.25'
    case "a tree with a scale":
        tree["choice_scale"] = 1e99
    case "a mean with a scale":
        mean["choice_scale"] = 1e99
    case "five are a tree":
        next(one for t, one in q.items() if t.endswith("0.4 0.5"))["choice_scale"] = 1e99
    case "a person in the block":
        q["count persons where crp > 3"]["block_scale"] = mean["block_scale"]
    case "per person in the block":
        q["mean crp per person"]["block_scale"] = mean["block_scale"]
    case "no mass":
        del mean["mass"]
    case "no cells":
        del mean["cells"]
    case "no query":
        del mean["query"]
    case "another member":
        mean["scale"] = 1
json.dump(c, open("a.csv.certificate.json", "w"))
PY
  for change in 'no scale' 'one choice less' 'a tree with a scale' 'a mean with a scale' 'five are a tree' 'a person in the block' 'per person in the block' 'no mass' 'no cells' 'no query' 'another member'; do
    python3 change.py "$change"
    run "$SOTTO" verify a.csv.certificate.json --output a.csv
    [ "$status" -eq 1 ] || [ "$status" -eq 65 ]
    [[ "$output" == *"has other scales than such a query needs"* || "$output" == *"'statistic.queries' is wrong"* ]]
    code=$status
    run -"$code" python3 "$root/tests/cli/verify_recorder.py" a.csv
    [[ "$output" == *"has other scales than such a query needs"* || "$output" == *"'statistic.queries' is no list"* ]]
  done
  browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
  [ -n "$browser" ] || skip "the page: no chromium or google-chrome on this machine"
  python3 "$root/tests/cli/verify_page.py" "$browser" "$root/verifier/verify.html" replay 11 record.jsonl
}

@test "the verifier's page says the same" {
  browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
  [ -n "$browser" ] || skip "no chromium or google-chrome on this machine"
  export SOTTO_VERIFIER=$verifier SOTTO_RECORD=$PWD/record.jsonl
  "$SOTTO" ask t.csv 'mean age; crosstab ward x out; median age; sum age' "${asked[@]}" --person who --rows-per-person 2 --epsilon 1 -o a.csv
  python3 "$root/tests/cli/verify_recorder.py" a.csv --ledger share/sotto/ledger/clinic.jsonl > /dev/null
  for change in 's/"block_scale": [0-9]/"block_scale": /' 's/"choice_scale": [0-9]/"choice_scale": 0/' 's/"cells": 16/"cells": 1/' 's/"mass": 1073741824/"mass": 1073741823/' 's/"name": "queries"/"name": "mean"/'; do
    cp a.csv.certificate.json kept
    sed -i "$change" a.csv.certificate.json
    run -1 cmp -s a.csv.certificate.json kept
    python3 "$root/tests/cli/verify_recorder.py" a.csv --ledger share/sotto/ledger/clinic.jsonl > /dev/null || [ "$?" -lt 64 ]
    mv kept a.csv.certificate.json
  done
  [ "$(grep -c '"code": 1' record.jsonl)" -eq 5 ]
  python3 "$root/tests/cli/verify_page.py" "$browser" "$root/verifier/verify.html" replay 5 record.jsonl
  python3 "$root/tests/cli/verify_page.py" "$browser" "$root/verifier/verify.html" says "that the schema was written without looking at the records" a.csv a.csv.certificate.json
}
