#!/usr/bin/env bats
# Pipes where one array or table is read, words about help, and options that every verb has.

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

@test "an audit reads a pipe, and its report says so" {
  "$SOTTO" audit --member-losses <(cat y.npy) --nonmember-losses y.npy --json -o a > out
  grep -q "read from a pipe" a/report.json
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
  [ "$("$SOTTO" -V)" = "$("$SOTTO" --version)" ]
  "$SOTTO" help --json | tr -d '\n' | grep -q '"name": "demo", "summary": "[^"]*"}.*]}$'
  "$SOTTO" attack list --json | grep -q '"name": "shokri", "summary": "Shadow models'
  for name in $("$SOTTO" attack list | grep -o '^  [a-z][a-z0-9-]*') encoder logan gan-leaks-white elbo; do
    "$SOTTO" attack list --json | grep -q "\"name\": \"$name\""
  done
}

@test "options of every verb are checked" {
  for bad in "--color foo" "--progress sometimes" "--threads 0" "--threads 100000"; do
    run "$SOTTO" version $bad
    [ "$status" -eq 64 ]
    [[ "$output" == *"expected"* ]]
  done
  "$SOTTO" inspect nothing --color always 2>&1 | grep -q "$(printf '\033')" || [ "${PIPESTATUS[1]}" -eq 0 ]
  ! "$SOTTO" inspect nothing --color auto 2>&1 | grep -q "$(printf '\033')"
}
