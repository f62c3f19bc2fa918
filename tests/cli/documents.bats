#!/usr/bin/env bats
# label: landing
# The blocks of the pages run on small data, or say why not (tools/run-blocks). README and docs/START.md: cli/readme.

bats_require_minimum_version 1.5.0

setup() {
  root=$(realpath "$BATS_TEST_DIRNAME/../..")
  cd "$BATS_TEST_TMPDIR" || return 1
}

# blocks PAGE [PREAMBLE]: every block of the page ran, or has its reason
blocks() { mkdir work && (cd work && "$root/tools/run-blocks" "$@"); }

@test "GUIDE.md" {
  run -0 blocks "$root/docs/GUIDE.md" "$root/tests/support/pages/GUIDE.sh"
  [ "$(grep -c ': ran$' <<< "$output")" -ge 10 ]
}

@test "SCALE.md" {
  run -0 blocks "$root/docs/SCALE.md" "$root/tests/support/pages/SCALE.sh"
  [ "$(grep -c ': ran$' <<< "$output")" -ge 1 ]
}

@test "pages without commands that run here" {
  for page in MODELS DATA PRIVACY FORMATS ADDING; do
    run -0 blocks "$root/docs/$page.md"
    rm -r work
  done
}

@test "pages of the modules of this build" {
  for folder in "$root"/src/modules/*; do
    grep -q "/${folder##*/}/\|${folder##*/}_plugs" "$SOTTO_BUILD/generated/modules/all_plugs.h" || continue
    set -- "$folder/page.md"
    [ ! -e "$folder/tests/page.sh" ] || set -- "$@" "$folder/tests/page.sh"
    run -0 blocks "$@"
    rm -r work
  done
}

@test "a command that fails, code without a reason and a preamble that fails are found; a reason and data are not run" {
  printf 'A page.\n\n    false\n' > page
  run -1 blocks "$PWD/page"
  [[ $output == *"page:3: exit code 1"* ]]
  rm -r work
  printf '```sh\nsotto nothing\n```\n' > page
  run -1 blocks "$PWD/page"
  [[ $output == *"page:1: exit code 64"* ]]
  rm -r work
  printf '```python\nimport sotto\n```\n' > page
  run -1 blocks "$PWD/page"
  [[ $output == *"page:1: python is not run here; expected <!-- no-run: REASON --> above it"* ]]
  rm -r work
  printf '```\ntrue\n```\n' > page
  echo 'false' > preamble
  run -1 blocks "$PWD/page" "$PWD/preamble"
  rm -r work
  printf '<!-- no-run: a reason -->\n\n    false\n\n<!-- no-run: another -->\n```c\nx\n```\n```json\n{}\n```\n- an item\n    that goes on\n' > page
  run -0 blocks "$PWD/page"
  [ "$output" = "$PWD/page:3: not run: a reason
$PWD/page:6: not run: another
$PWD/page:9: not run: json" ]
}
