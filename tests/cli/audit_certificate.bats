#!/usr/bin/env bats
# audit --certificate: what is proved stands beside what was measured, and is verified first.

# private OPTIONS...: a head with much noise, whose account takes little time
private() {
  "$SOTTO" head --features x.npy --labels y.npy --classes 10 --trainer dp-sgd --batch 20 --epochs 1 --delta 1e-3 --quiet "$@" > /dev/null 2>&1
}
setup_file() {
  cd "$BATS_FILE_TMPDIR" || exit 1
  export XDG_DATA_HOME=$PWD/data
  "$SOTTO" embed --data synthetic-images-n60 --encoder scattering --labels-out y.npy -o x.npy --quiet > /dev/null
  private --epsilon 0.3 --ledger l.jsonl -o h.safetensors
  for n in $(seq 1 150); do echo "1.$((n * 7 % 100))"; done > m.csv
  for n in $(seq 1 150); do echo "1.$((n * 3 % 100))"; done > n.csv
}
setup() {
  cd "$BATS_TEST_TMPDIR" || exit 1
  export XDG_DATA_HOME=$PWD/data
  cp "$BATS_FILE_TMPDIR"/*.* .
}
row() { tr -d '\n ' < a/report.json | sed 's/.*"rows":\[{//'; }

@test "a certified model is proved on the page; without the ledger the page says so" {
  "$SOTTO" audit --member-losses m.csv --nonmember-losses n.csv --certificate h.safetensors --ledger l.jsonl -o a --quiet > /dev/null
  row | grep -q '"proved":{"epsilon":{"lower":0.299[0-9]*,"upper":0.299[0-9]*},"delta":0.001,"adjacency":"replace-one"'
  row | grep -q '"source":"clipped"'
  row | grep -q "certificate:notsigned"
  [ "$(row | grep -c "theledger,asnonewasgiven")" -eq 0 ]
  grep -q "This model has a proved guarantee" <(tr '\n' ' ' < a/report.html | sed 's/<[^>]*>//g')
  "$SOTTO" audit --member-losses m.csv --nonmember-losses n.csv --certificate h.safetensors -o a --force --quiet > /dev/null
  row | grep -q "theledger,asnonewasgiven"
}

@test "the page says whose privacy it is" {
  private --noise-multiplier 9 --ledger p.jsonl --rows-per-person 2 -o p.safetensors
  "$SOTTO" audit --member-losses m.csv --nonmember-losses n.csv --certificate p.safetensors -o a --quiet > /dev/null
  tr '\n' ' ' < a/report.html | sed 's/<[^>]*>//g' > page
  grep -q "Unit of privacy: one person (at most 2 rows each, as stated by the caller)" page
  grep -q "NOT met: A person has at most 2 rows in these records\." page # a condition as a sentence
  if grep -q "Unit of privacy: one record" page; then false; fi
}

@test "a certificate that does not verify is refused before anything is written" {
  sed -i 's/"delta": 0.001/"delta": 0.0001/' h.safetensors.certificate.json
  run "$SOTTO" audit --member-losses m.csv --nonmember-losses n.csv --certificate h.safetensors -o a
  [ "$status" -eq 1 ]
  [[ "$output" == *"does not verify"* ]]
  [ ! -e a ]
}

@test "noise that was seeded proves nothing" {
  private --epsilon 0.3 --ledger l.jsonl --insecure-noise-seed 1 -o s.safetensors
  run "$SOTTO" audit --member-losses m.csv --nonmember-losses n.csv --certificate s.safetensors -o a
  [ "$status" -eq 1 ]
  [[ "$output" == *"guarantees nothing"* ]]
  [ ! -e a/report.html ]
}

@test "the options need each other" {
  run "$SOTTO" audit --member-losses m.csv --nonmember-losses n.csv --ledger l.jsonl -o a
  [ "$status" -eq 64 ]
  run "$SOTTO" audit --member-losses m.csv --nonmember-losses n.csv --certificate h.safetensors
  [ "$status" -eq 64 ]
}

@test "compare: what certificates prove stands beside what was measured" {
  "$SOTTO" audit --member-losses m.csv --nonmember-losses n.csv -o a --quiet > /dev/null
  "$SOTTO" compare --model plain=a/result.json --model private=a/result.json -o none > none.txt
  grep -q 'Nothing here is proved' none/report.html
  [ "$(grep -c proved_epsilon none.txt)" -eq 0 ]
  "$SOTTO" compare --model plain=a/result.json --model private=a/result.json --certificate private=h.safetensors,l.jsonl -o c > c.txt
  tr '\n' ' ' < c/report.html | sed 's/<[^>]*>//g' > page
  [ "$(grep -c 'Nothing here is proved' page)" -eq 0 ]
  grep -q 'Certificates prove an epsilon for 1 of 2 models' page
  grep -q 'proved_epsilon' c.txt
  grep -q '^private .* 0.300, delta 0.001' c.txt
  tr -d '\n ' < c/compare.json | grep -q '"proved_epsilon":{"estimate":0.299[0-9]*,"lower":0.299[0-9]*,"upper":0.299[0-9]*,'
  run "$SOTTO" compare --model plain=a/result.json --model private=a/result.json --certificate other=h.safetensors -o d
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: --certificate: no --model is called 'other'; expected the name of a model" ]
  sed -i 's/"delta": 0.001/"delta": 0.0001/' h.safetensors.certificate.json
  run "$SOTTO" compare --model plain=a/result.json --model private=a/result.json --certificate private=h.safetensors -o d
  [ "$status" -eq 1 ]
  [ ! -e d ]
}
