#!/usr/bin/env bats
# Every help text is a golden file, so that a change of wording is reviewed. After such a change write them again by
#   REFRESH=1 SOTTO=build/release/sotto bats tests/cli/help.bats
# and look at the difference.

@test "help texts are those of tests/golden/help" {
  golden=$BATS_TEST_DIRNAME/../golden/help
  verbs=$("$SOTTO" help | sed -n 's/^  sotto \([a-z-]*\) .*/\1/p')
  unset COLUMNS
  if [ -n "$REFRESH" ]; then
    mkdir -p "$golden"
    rm -f "$golden"/*.txt
    for verb in $verbs; do "$SOTTO" "$verb" --help > "$golden/$verb.txt"; done
  fi
  for verb in $verbs; do
    "$SOTTO" "$verb" --help | diff -u "$golden/$verb.txt" - || { echo "see the head of help.bats"; return 1; }
  done
  [ "$(ls "$golden" | wc -l)" -eq "$(echo "$verbs" | wc -l)" ]
}

@test "help speaks of options, not of people" {
  run grep -rniwE 'whoever|nobody|somebody|his|whose' "$BATS_TEST_DIRNAME/../golden/help"
  [ "$status" -eq 1 ] || { echo "$output"; return 1; }
}
