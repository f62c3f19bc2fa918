#!/usr/bin/env bats
# The checks of what users read: tools/check-sentences finds pages of long sentences, tools/error-texts prints all texts of errors.

bats_require_minimum_version 1.5.0

setup() {
  tools=$BATS_TEST_DIRNAME/../../tools
  dir=$(mktemp -d)
  mkdir -p "$dir/src" "$dir/cli" "$dir/docs"
  printf '# A page\n\nIt says little. A sentence has few words.\n' > "$dir/docs/MADE.md"
}

teardown() { rm -rf "$dir"; }

@test "check-sentences passes short sentences, and finds a long one in a paragraph and in a list, but not in code, tables and links" {
  cp "$dir/docs/MADE.md" "$dir/short"
  long=$(printf 'word %.0s' {1..36})
  printf -- '\n    %s\n\n| %s |\n|---|\n\n```\n%s\n```\n`%s` ends. See [it](%s).\n' "$long" "$long" "$long" "$long" "$long" >> "$dir/docs/MADE.md"
  run -0 "$tools/check-sentences" "$dir"
  for text in "$long." "- $long." "It is short (a b). And $long." "One line
$long."; do
    { cat "$dir/short" && printf -- '\n%s\n' "$text"; } > "$dir/docs/MADE.md"
    run -1 "$tools/check-sentences" "$dir"
    [[ "$output" == *"docs/MADE.md: 5 % of the sentences have 3"[678]" words or more; expected at most 35" ]]
  done
}

@test "error-texts prints the texts of a call: joined pieces, choices, conversions of other widths" {
  cat > "$dir/cli/b.c" <<'C'
#define REQUIRE(condition, ...) FAIL("a macro is not a text")
/* FAIL("a comment is not a text") */
void f(void) {
    REQUIRE(strcmp(a, "one") == 0, "object: %s is not "
            "%zu; expected 1", a, n);
    status_hint(x ? "give --this" : "give --that (it's %" PRIu64 ")", x);
    other("this is not an error");
}
C
  run "$tools/error-texts" "$dir"
  [ "$status" -eq 0 ]
  [ "$output" = "cli/b.c
give --this | give --that (it's %<PRIu64>)
object: %s is not %zu; expected 1" ]
}

@test "check-docs finds a version that is not that of VERSION" {
  cp -r "$tools/../tools" "$tools/../docs" "$dir/" && cp "$tools/../README.md" "$tools/../CITATION.cff" "$dir/"
  printf '# Changelog\n\n## [9.9.9]\n' > "$dir/CHANGELOG.md"
  printf '9.9.9\n' > "$dir/VERSION"
  sed -i 's/^version: .*/version: 9.9.9/' "$dir/CITATION.cff"
  run "$dir/tools/check-docs" "$dir"
  [[ "$output" != *'states version'* ]]
  printf '9.9.8\n' > "$dir/VERSION"
  run "$dir/tools/check-docs" "$dir"
  [ "$status" -eq 1 ]
  [[ "$output" == *'CHANGELOG.md states version'* && "$output" == *'CITATION.cff states version'* ]]
}

@test "check-results finds a page that is old, and a row without a section of the lab book" {
  cp -r "$tools/../docs" "$tools/../notes" "$tools/../results" "$dir/"
  run "$tools/check-results" "$dir"
  [ "$status" -eq 0 ]
  sed -i '0,/does not hold/s//holds/' "$dir/results/claims.csv"
  run "$tools/check-results" "$dir"
  [ "$status" -eq 1 ]
  [ "$output" = 'check-results: docs/CLAIMS.md is old: tools/results-pages' ]
  sed -i 's/^## Start-up$/## Start/' "$dir/notes/speed.md"
  run "$tools/check-results" "$dir"
  [ "$status" -eq 1 ]
  [[ "$output" == *"section 'Start-up' is not in notes/"* ]]
}

@test "check-results finds a row that does not say command, commit, machine or date of its figure" {
  run "$tools/check-results" "$tools/.." # in a clone, where the history has the commits
  [ "$status" -eq 0 ]
  cp -r "$tools/../docs" "$tools/../notes" "$tools/../results" "$dir/"
  breaks() { # FILE FROM TO EXPECTED: the first FROM, a regular expression, becomes TO
    sed -i "0,/$2/s//$3/" "$dir/results/$1"
    run "$tools/check-results" "$dir"
    [ "$status" -eq 1 ]
    [[ "$output" == "results/$1:$4"* ]]
    cp "$tools/../results/$1" "$dir/results/$1"
  }
  breaks claims.csv ',f23b7fb6,' ',,' "2: commit '': expected"
  breaks claims.csv ',f23b7fb6,' ',f23b7fb,' "2: commit 'f23b7fb': expected"
  breaks claims.csv ',2026-11-24,' ',2026-11-34,' "2: date '2026-11-34': expected"
  breaks claims.csv ',2026-11-24,' ',not run,' "2: date 'not run': expected"
  breaks claims.csv 'sotto run [^,]*' '' "2: command '': expected"
  breaks speed.csv '"AMD EPYC[^"]*"' '' "2: machine '': expected"
  breaks claims.csv ',f23b7fb6,' ',not recorded,' " 6 rows say 'not recorded', and 5 may"
  breaks claims.csv ',not recorded,' ',a machine,' " 4 rows say 'not recorded', and 5 may"
  command -v git >/dev/null || skip "no git"
  git init -q "$dir"
  git -C "$dir" -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m other
  run "$tools/check-results" "$dir"
  [ "$status" -eq 1 ]
  [ "$output" = 'results/claims.csv:2: commit f23b7fb6 is not in the history' ]
}
