#!/usr/bin/env bats
# What holds for every verb: help, unknown names, exit codes, JSON errors.

@test "no arguments: synopsis, exit 64" {
  run "$SOTTO"
  [ "$status" -eq 64 ]
  [[ "$output" == *"sotto version"* ]]
}

@test "unknown verb suggests the nearest" {
  run "$SOTTO" versoin
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: unknown verb 'versoin'; did you mean 'version'?" ]
}

@test "options stand behind the verb; -- before it ends nothing" {
  run "$SOTTO" --color never version
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: '--color' stands before the verb; expected sotto VERB, and options behind it" ]
  version=$("$SOTTO" version)
  [ "$("$SOTTO" -- version)" = "$version" ]
}

@test "unknown option suggests the nearest" {
  run "$SOTTO" version --jsn
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: version: unknown option '--jsn'; did you mean '--json'?" ]
}

@test "with --json an error is one JSON object on stderr" {
  run bash -c '"$SOTTO" version --bogus --json 2>&1 >/dev/null'
  [ "$status" -eq 64 ]
  [[ "$output" == '{"error": '*'"exit_code": 64}' ]]
}

@test "every verb has help that starts with examples and exits 0" {
  verbs=$("$SOTTO" help | sed -n 's/^  sotto \([a-z-]*\) .*/\1/p')
  [ "$(wc -w <<< "$verbs")" -ge 20 ]
  for verb in $verbs; do
    run "$SOTTO" "$verb" --help
    [ "$status" -eq 0 ]
    [[ "$output" == "sotto $verb: "*"Examples:"*"  sotto "*"all options: sotto $verb --help all" ]]
  done
}

@test "a full disk is reported as an error" {
  run bash -c '"$SOTTO" version > /dev/full'
  [ "$status" -eq 74 ]
}

@test "SOTTO_ISA limits our kernels and oneDNN, and the version line shows both; an unknown level is refused" {
  [ "$(uname -m)" = x86_64 ] || skip
  [[ "$("$SOTTO" version)" == *"oneDNN"* ]] || skip "built without oneDNN"
  run env SOTTO_ISA=v2 "$SOTTO" version
  [[ "$output" == "sotto "*" (ISA v2, oneDNN "*" sse41, OpenMP "*")" ]]
  run env SOTTO_ISA=v2 "$SOTTO" train --data synthetic-images-n64 --dtype bf16 --quiet -o "$BATS_TEST_TMPDIR/m.safetensors"
  [ "$status" -eq 69 ]
  [[ "$output" == "sotto: error: dtype bf16 needs the instruction set v4bf16 "*" v2 (oneDNN "*"; use f32 or auto" ]]
  [ ! -e "$BATS_TEST_TMPDIR/m.safetensors" ]
  run env SOTTO_ISA=v5 "$SOTTO" version
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: SOTTO_ISA is 'v5'; expected v2, v3, v4 or v4bf16 (unset it for the best level of this machine)" ]
}

@test "--threads, SOTTO_NUM_THREADS and OMP_NUM_THREADS decide in this order how many threads there are" {
  cd "$BATS_TEST_TMPDIR"
  printf '%s\n' 'name: e' 'data: {set: synthetic-images-n600, public: 64, private: 120, heldout: 100}' \
    'pretrain: {epochs: 1, batch: 32, dtype: f32, backend: dnnl}' 'attack: {names: [loss]}' > e.yaml
  threads() { env -u SOTTO_NUM_THREADS -u OMP_NUM_THREADS "${@:2}" | grep -q "workers of $1 threads"; }
  threads 3 OMP_NUM_THREADS=3,2 "$SOTTO" run e.yaml --plan
  threads 4 OMP_NUM_THREADS=3 SOTTO_NUM_THREADS=4 "$SOTTO" run e.yaml --plan
  threads 5 OMP_NUM_THREADS=3 SOTTO_NUM_THREADS=4 "$SOTTO" run e.yaml --plan --threads 5
  threads 1 taskset -c "$(taskset -cp $$ | grep -oE '[0-9]+' | tail -n 1)" "$SOTTO" run e.yaml --plan
}
