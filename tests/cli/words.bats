#!/usr/bin/env bats
# The checks of what users read: tools/check-words finds words that speak of things as of people, tools/error-texts prints all texts.

setup() {
  tools=$BATS_TEST_DIRNAME/../../tools
  dir=$(mktemp -d)
  mkdir -p "$dir/src" "$dir/cli" "$dir/docs" "$dir/include/sotto" "$dir/tests/golden/help"
  printf '/* whoever reads this */ // his\nconst char *text = "the threshold";\n' > "$dir/src/a.c"
  printf '# Changelog\n\n## [Unreleased]\n- new\n\n## [0.1.0]\n- for somebody\n' > "$dir/CHANGELOG.md"
}

teardown() { rm -rf "$dir"; }

# planted FILE TEXT: the text is added to the file, found there, and the file is put back
planted() {
  cp "$dir/$1" "$dir/before" 2>/dev/null || : > "$dir/before"
  printf '%b\n' "$2" >> "$dir/$1"
  run "$tools/check-words" "$dir"
  [ "$status" -eq 1 ]
  [[ "$output" == *"${1##*/}"* || "$output" == *"literal:$1"* ]]
  cp "$dir/before" "$dir/$1"
}

@test "check-words passes a clean tree and finds a planted word in every kind of text" {
  run "$tools/check-words" "$dir"
  [ "$status" -eq 0 ]
  planted src/a.c 'const char *other = "a key that nobody knows";'
  planted cli/b.c 'void f(void) { g("one " /* a */ "for whoever asks"); }'
  planted include/sotto/made.h '/** Whose it is. */'
  planted docs/MADE.md 'Ask somebody.'
  planted tests/golden/help/made.txt '  --key  his key'
  run bash -c "sed -i 's/^- new/- new, for nobody/' '$dir/CHANGELOG.md' && '$tools/check-words' '$dir'"
  [ "$status" -eq 1 ]
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
