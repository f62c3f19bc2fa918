#!/usr/bin/env bats
# Pipes where one array or table is read, words about help, and options that every verb has.

bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_TMPDIR" || exit 1
  export XDG_DATA_HOME=$PWD
  "$SOTTO" embed --data synthetic-images-n60 --encoder scattering --labels-out y.npy -o x.npy --quiet > /dev/null
}
head_of() { "$SOTTO" head --quiet --epochs 1 -o "$1" "${@:2}" > /dev/null; }

@test "standard input, <(...) and a FIFO give the head that the file gives" {
  head_of file.safetensors --features x.npy --labels y.npy
  head_of input.safetensors --features - --labels y.npy < x.npy
  cat x.npy | head_of piped.safetensors --features - --labels y.npy
  head_of process.safetensors --features <(cat x.npy) --labels <(cat y.npy)
  mkfifo fifo
  (sleep 0.3; cat x.npy > fifo) &
  head_of fifo.safetensors --features fifo --labels y.npy
  for f in input piped process fifo; do cmp file.safetensors $f.safetensors; done
}

@test "standard input is read by one option" {
  run "$SOTTO" head --features - --labels - -o twice.safetensors < x.npy
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: --features and --labels both read standard input; expected one of them" ]
  [ ! -e twice.safetensors ]
}

@test "an audit reads a pipe, and its report says so" {
  "$SOTTO" audit --member-losses <(cat y.npy) --nonmember-losses y.npy --json -o a > out
  grep -q "read from a pipe" a/report.json
}

@test "protect reads pipes of every kind, and a bad one charges nothing" {
  python3 - << 'PY'
import zipfile
with zipfile.ZipFile("z.npz", "w") as z:
    z.write("x.npy", "x.npy")
PY
  cp x.npy z.npy # without its provenance
  LC_ALL=C awk 'BEGIN { for (i = 0; i < 60; i++) print i / 7 "," i % 9 }' > z.csv
  protect() { timeout 30 "$SOTTO" protect "$1" "$2" --mechanism laplace --dataset-id p --ledger p.jsonl --insecure-noise-seed 7 "${@:3}" --quiet > /dev/null; }
  for file in z.npy z.npz z.csv; do
    for what in "--vector --scale 2 --l1 1" "--records --scale 2 --clip 1 --norm l1" "--table --statistic mean --range 0,1 --epsilon 1"; do
      read -r option more <<< "$what"
      # shellcheck disable=SC2086
      {
        protect $option $file $more -o file.npy
        cat $file | protect $option - $more -o cat.npy
        protect $option - $more -o input.npy < $file
        protect $option <(cat $file) $more -o process.npy
        rm -f fifo && mkfifo fifo
        (cat $file > fifo) &
        protect $option fifo $more -o fifo.npy
      }
      for f in cat input process fifo; do cmp file.npy $f.npy; done
      "$SOTTO" verify process.npy > /dev/null
    done
  done
  before=$(wc -l < p.jsonl)
  run protect --vector <(head -c 150 x.npy) --scale 2 --l1 1 -o no.npy
  [ "$status" -eq 65 ]
  run protect --vector <(true) --scale 2 --l1 1 -o no.npy
  [ "$status" -eq 65 ]
  [ "$(wc -l < p.jsonl)" -eq "$before" ]
  [ ! -e no.npy ]
}

@test "a pipe that is cut off, or that is to be read twice, is refused" {
  run "$SOTTO" head --features <(head -c 200 x.npy) --labels y.npy -o h.safetensors
  [ "$status" -eq 65 ]
  run "$SOTTO" inspect <(cat x.npy)
  [ "$status" -eq 66 ]
  run "$SOTTO" head --features /dev/zero --labels y.npy -o h.safetensors
  [ "$status" -eq 66 ]
  [ ! -e h.safetensors ]
}

@test "one Ctrl-C ends the wait for a pipe that has no writer" {
  mkfifo fifo
  "$SOTTO" head --features fifo --labels y.npy -o h.safetensors 2> err &
  sleep 0.5
  kill -INT $! || true
  code=0
  wait $! || code=$?
  # a shell's background jobs ignore SIGINT, and so may the program then: SIGTERM is answered like it
  [ "$code" -eq 130 ] || { kill -TERM $! 2> /dev/null || true; wait $! || code=$?; [ "$code" -ge 130 ]; }
}

@test "help VERB shows help and runs nothing; -V and JSON forms" {
  run "$SOTTO" help demo
  [ "$status" -eq 0 ]
  [[ "${lines[0]}" == "sotto demo: "* ]]
  [ ! -e runs ]
  version=$("$SOTTO" --version)
  [ "$("$SOTTO" -V)" = "$version" ]
  "$SOTTO" help --json | tr -d '\n' | grep -q '"name": "demo", "summary": "[^"]*"}.*]}$'
  "$SOTTO" attack list --json | grep -q '"name": "shokri", "summary": "Shadow models'
  for name in $("$SOTTO" attack list | grep -o '^  [a-z][a-z0-9-]*') encoder; do
    "$SOTTO" attack list --json | grep -q "\"name\": \"$name\""
  done
}

@test "options of every verb are checked" {
  for bad in "--color foo" "--progress sometimes" "--threads 0" "--threads 100000"; do
    run "$SOTTO" version $bad
    [ "$status" -eq 64 ]
    [[ "$output" == *"expected"* ]]
  done
  run -66 "$SOTTO" inspect nothing --color always
  [[ "$output" == *$'\033'* ]]
  run -66 "$SOTTO" inspect nothing --color auto
  [[ "$output" != *$'\033'* ]]
}
