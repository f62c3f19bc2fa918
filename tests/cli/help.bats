#!/usr/bin/env bats
# Every help text is a golden file, so that a change of wording is reviewed. After such a change write them again by
#   REFRESH=1 SOTTO=build/release/sotto bats tests/cli/help.bats
# and look at the difference.

@test "help texts are those of tests/golden/help" {
  golden=$BATS_TEST_DIRNAME/../golden/help modules=$BATS_TEST_DIRNAME/../../src/modules
  text_of() { # that of a module's verb lies in the module
    local own
    own=$(find "$modules" -path "*/tests/golden/help/$1.txt")
    echo "${own:-$golden/$1.txt}"
  }
  verbs=$("$SOTTO" help | sed -n 's/^  sotto \([a-z-]*\) .*/\1/p')
  unset COLUMNS
  if [ -n "$REFRESH" ]; then
    mkdir -p "$golden"
    for verb in $verbs; do "$SOTTO" "$verb" --help > "$(text_of "$verb")"; done
  fi
  for verb in $verbs; do
    "$SOTTO" "$verb" --help | diff -u "$(text_of "$verb")" - || { echo "see the head of help.bats"; return 1; }
  done
  built=$(sed -n 's,^#include "sotto/lab/\(.*\)\.h"$,\1,p' "${SOTTO_BUILD:-$(dirname "$SOTTO")}/generated/sotto/lab.h")
  for file in "$golden"/*.txt $(for name in $built; do ls "$modules/$name"/tests/golden/help/*.txt; done); do
    [ ! -e "$file" ] || grep -qx "$(basename "$file" .txt)" <<< "$verbs" || { echo "$file: there is no such verb"; return 1; }
  done
}

@test "help speaks of options, not of people" {
  run grep -rniwE 'whoever|nobody|somebody|his|whose' "$BATS_TEST_DIRNAME/../golden/help" "$BATS_TEST_DIRNAME"/../../src/modules --include='*.txt'
  [ "$status" -eq 1 ] || { echo "$output"; return 1; }
}
