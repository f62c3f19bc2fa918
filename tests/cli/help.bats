#!/usr/bin/env bats
# Every help text is a golden file, so that a change of wording is reviewed: VERB.txt of --help, VERB.all.txt of --help all, and
# VERB-NAME.txt of each subcommand. After such a change write them again by
#   REFRESH=1 SOTTO=build/release/sotto bats tests/cli/help.bats
# and look at the difference. What a module adds to the text of a verb that is not its own stands in FILE.txt.more of the module, whose
# lines REFRESH writes in a build with that module alone, and the text without them in a build without modules. In a build with all
# modules it writes again the lines of that text which are worded anew, but finds no line that is new.

bats_require_minimum_version 1.5.0

setup() {
  golden=$BATS_TEST_DIRNAME/../golden/help modules=$BATS_TEST_DIRNAME/../../src/modules
  verbs=$("$SOTTO" help | sed -n 's/^  sotto \([a-z-]*\) .*/\1/p')
  unset COLUMNS
}
# The first name of each row, or with "all" all names.
subcommands() {
  "$SOTTO" "$1" --help | sed -n '/where NAME is one of:$/,/^$/s/^  \([a-z0-9-].*\)/\1/p' |
    sed -E "s/^(([a-z0-9-]+, )*[a-z0-9-]+).*/\1/; ${2:-s/,.*//}; s/,//g"
}
# What is asked, and the file that holds the answer.
helps() {
  for verb in $verbs; do
    echo "$verb $verb --help"
    echo "$verb.all $verb --help all"
    for name in $(subcommands "$verb"); do echo "$verb-$name $verb $name --help"; done
  done
}

@test "help texts are those of tests/golden/help" {
  text_of() { # that of a module's verb, or of a name that a module adds, lies in the module
    local own
    own=$(find "$modules" -path "*/tests/golden/help/$1.txt" -o -path "*/tests/golden/help/${1%%[.-]*}.all.txt" | head -n 1)
    [ -n "$own" ] && echo "${own%/*}/$1.txt" || echo "$golden/$1.txt"
  }
  helps > "$BATS_TEST_TMPDIR/helps"
  [ "$(wc -l < "$BATS_TEST_TMPDIR/helps")" -gt 60 ]
  built=$(cat "${SOTTO_BUILD:-$(dirname "$SOTTO")}/generated/modules/names.txt")
  is=$BATS_TEST_TMPDIR/is changes=$BATS_TEST_TMPDIR/changes
  while read -r file words; do
    text=$(text_of "$file")
    "$SOTTO" $words > "$is"
    more=$(for name in $built; do ls "$modules/$name/tests/golden/help/$file.txt.more" 2> /dev/null || :; done)
    if [ -z "$more" ]; then
      [ -z "$REFRESH" ] || cp "$is" "$text"
      diff -u "$text" "$is" || { echo "see the head of help.bats"; return 1; }
    else # the lines that parts of modules add, in any order, and no other
      [ -z "$REFRESH" ] || diff -d --changed-group-format='%>' --new-group-format='' "$text" "$is" > "$changes" || cp "$changes" "$text"
      diff -d "$text" "$is" > "$changes" || :
      [ -z "$REFRESH" ] || [ "$(wc -w <<< "$built")" -gt 1 ] || sed -n 's/^> //p' "$changes" > "$more"
      diff -u <(cat $more | sort) <(sed -n 's/^> //p' "$changes" | sort) && run -1 grep '^<' "$changes" || { cat "$changes"; echo "see the head of help.bats"; return 1; }
    fi
  done < "$BATS_TEST_TMPDIR/helps"
  for file in "$golden"/*.txt $(for name in $built; do ls "$modules/$name"/tests/golden/help/*.txt; done); do
    [ ! -e "$file" ] || grep -q "^$(basename "$file" .txt) " "$BATS_TEST_TMPDIR/helps" || { echo "$file: there is no such verb"; return 1; }
  done
}

@test "a short help is a screen of at most 40 lines, with examples first and the way to all options last" {
  helps | grep -v '^[a-z-]*\.all ' > "$BATS_TEST_TMPDIR/helps"
  while read -r _ words; do
    run -0 "$SOTTO" $words
    [ "${#lines[@]}" -gt 4 ]
    [ "$(wc -l <<< "$output")" -le 40 ] || { echo "$words: $output"; return 1; }
    [ "$(grep -n '^Examples:$' <<< "$output" | cut -d: -f1)" -le 4 ]
    [[ "${lines[-1]}" == "all options: sotto ${words%% *} --help all" ]]
    [[ "$output" == *$'\nExamples:\n  sotto '* ]] || { echo "$words: no example"; return 1; } # of its own: others are not shown
  done < "$BATS_TEST_TMPDIR/helps"
}

@test "each name of a subcommand has its help; help VERB NAME is VERB NAME --help" {
  [ "$("$SOTTO" attack rmia --help | head -n 1)" = "$("$SOTTO" attack lira --help | head -n 1 | sed s/lira/rmia/)" ]
  [ "$(subcommands attack ' ' | wc -w)" -ge 20 ]
  for verb in data ledger attack; do
    for name in $(subcommands "$verb" ' '); do
      run -0 "$SOTTO" "$verb" "$name" --help
      [[ "$output" == "sotto $verb $name: "* ]] || { echo "$output"; return 1; }
    done
  done
  [ "$("$SOTTO" help data import)" = "$("$SOTTO" data import --help)" ]
  [ "$("$SOTTO" help audit all)" = "$("$SOTTO" audit --help all)" ]
  [ "$("$SOTTO" data nothing --help)" = "$("$SOTTO" data --help)" ]
}

@test "every attack of 'sotto attack list' has its help" {
  names=$("$SOTTO" attack list --json | tr ',' '\n' | sed -n 's/.*"name": *"\([a-z0-9-]*\)".*/\1/p' | sort -u)
  [ "$(wc -w <<< "$names")" -gt 20 ]
  for name in $names; do
    [[ "$("$SOTTO" attack "$name" --help)" == "sotto attack $name: "* ]] || { echo "$name"; return 1; }
  done
}

@test "help speaks of options, not of people" {
  run grep -rniwE 'whoever|nobody|somebody|his|whose' "$golden" "$modules" --include='*.txt'
  [ "$status" -eq 1 ] || { echo "$output"; return 1; }
}
