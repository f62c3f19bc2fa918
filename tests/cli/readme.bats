#!/usr/bin/env bats
# README.md: its size, and its blocks for the shell; docs/START.md: every block as it stands, but that 'make check' draws fewer images.
# `make demo` is run by cli/run, `make check` runs this. The README's Python is run by python/tests/test_documents.py.

bats_require_minimum_version 1.5.0
load ../support/effort

setup_file() {
  export ROOT=$BATS_TEST_DIRNAME/../..
  cd "$BATS_FILE_TMPDIR" || exit
  export XDG_DATA_HOME=$PWD/home PATH=$(dirname "$SOTTO"):$PATH
  # what the blocks name lies in the checkout; what they write does not
  for name in examples verifier docs; do ln -s "$(realpath "$ROOT")/$name" $name; done
  # every block between ```sh and ``` that is run, in its order: block-1, block-2, ...
  awk '/^<!-- no-run/ { skip = 1 } /^```sh$/ { n += !skip; open = !skip; skip = 0; next } /^```$/ { open = 0 }
    open { print > ("block-" n) }' "$ROOT/docs/START.md"
  awk '/^```sh$/ { open = 1; next } /^```$/ { open = 0 } open' "$ROOT/README.md" > table
}

@test "at most 60 lines of at most 110 columns; commands, the page, Python and a table in the first 40" {
  [ "$(wc -l < "$ROOT/README.md")" -le 60 ]
  run -0 awk 'length > 110 { print FNR ": " length }' "$ROOT/README.md"
  [ -z "$output" ]
  head -n 40 "$ROOT/README.md" > first
  grep -q '^    make demo' first
  grep -q '^    make check' first
  grep -q 'docs/page.png' first
  [ "$(grep -c '^```python$' first)" -eq 1 ]
  [ "$(grep -c '^```sh$' first)" -eq 1 ]
  [ "$(grep -c '^```$' first)" -eq 2 ]
}

@test "an audit of arrays" {
  cd "$BATS_FILE_TMPDIR" || exit
  run -0 bash -eu block-1
  [[ $output =~ loss\ +0\.6 ]]
  [ -s audit1/report.html ]
}

@test "a table: four commands; those of the README, and a check" {
  cd "$BATS_FILE_TMPDIR" || exit
  run -0 bash -eu block-2
  mkdir readme && cd readme && ln -s ../examples .
  run -0 env XDG_DATA_HOME="$PWD/home" bash -eu ../table
  [[ $output == *"private.safetensors"*": consistent"* ]]
}

@test "images: pre-train, embed, train privately; certify, verify twice" {
  cd "$BATS_FILE_TMPDIR" || exit
  "$SOTTO" data info fashion-mnist > /dev/null 2>&1 || skip "no Fashion-MNIST here"
  sed "$(by_effort 's/public=5000,private=10000,test=5000/public=500,private=2000,test=500/' '' '')" block-3 > images
  [ "${SOTTO_EFFORT:-1}" -gt 1 ] || run -1 cmp -s block-3 images
  run -0 bash -eu images
  [[ $output == *"(1, 1e-05)-differentially private"* ]]
  run -0 bash -eu block-4
  [ "$(grep -c '^released.safetensors.*: consistent, NOT signed' <<< "$output")" -eq 2 ]
  [ -s certificate.html ]
}
