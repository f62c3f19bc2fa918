#!/usr/bin/env bats
# tools/check-bats finds lines that cannot fail a test.

bats_require_minimum_version 1.5.0

setup() {
  check=$BATS_TEST_DIRNAME/../../tools/check-bats
  cd "$BATS_TEST_TMPDIR" || return 1
  mkdir -p tests/cli tests/support
  : > tests/support/page.bash
}

# with LINE: a test that has it
with() { printf '@test "a" {\n  %s\n  true\n}\n' "$1" > tests/cli/a.bats; }

@test "lines that cannot fail are found" {
  for line in '[ -e a ] && [ -e b ]' '! cmp -s a b' 'for f in a b; do'' ! grep -q x $f; done' 'run ! grep -q x a' '[ "$(wc -l < a)" != "$b" ]' '[[ "$(cat a)" != *x* ]]'; do
    with "$line"
    run -1 "$check"
    [[ "$output" == "check-bats: tests/cli/a.bats:2:  $line" ]]
    printf '  %s\n' "$line" > tests/support/page.bash
    rm tests/cli/a.bats
    : > tests/cli/b.bats
    run -1 "$check"
    [[ "$output" == "check-bats: tests/support/page.bash:1:  $line" ]]
    : > tests/support/page.bash
  done
}

@test "lines that can are not" {
  for line in 'run -1 cmp -s a b' '! command -v zsh || zsh -n a' '[ -e a ] && [ -e b ] || { echo no; false; }' '[ -e a ] && break' 'while ! cmp -s a b; do sleep 1; done' \
    '[ "$a" != "$(cat b)" ]' 'if ! cmp -s a b; then false; fi' 'find . ! -name a' "awk '{ exit !(\$1 > 2) }' a"; do
    with "$line"
    run -0 "$check"
    [ -z "$output" ]
  done
}
