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
  for verb in $("$SOTTO" help | sed -n 's/^  sotto \([a-z-]*\) .*/\1/p'); do
    run "$SOTTO" "$verb" --help
    [ "$status" -eq 0 ]
    [[ "$output" == "sotto $verb: "*"Examples:"*"  sotto "*"Options:"* ]]
  done
}

@test "a full disk is an error, not silence" {
  run bash -c '"$SOTTO" version > /dev/full'
  [ "$status" -eq 74 ]
}
