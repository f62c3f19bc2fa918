#!/usr/bin/env bats
# Help, man pages and completions are loops over one table: each names every option of every verb.

bats_require_minimum_version 1.5.0

setup() {
  mkdir "$BATS_TEST_TMPDIR/man" "$BATS_TEST_TMPDIR/completion"
  "$SOTTO" help --man "$BATS_TEST_TMPDIR/man"
  "$SOTTO" help --completion "$BATS_TEST_TMPDIR/completion"
  man=$BATS_TEST_TMPDIR/man completion=$BATS_TEST_TMPDIR/completion
  verbs=$("$SOTTO" help | sed -n 's/^  sotto \([a-z-]*\) .*/\1/p')
  [ "$(wc -w <<< "$verbs")" -ge 20 ]
}
options() { "$SOTTO" "$1" --help all | sed -n 's/^  --\([a-z0-9-]*\).*/\1/p'; }

@test "man pages and completions name every option of every verb" {
  for verb in $verbs; do
    bash_words=" $(sed -n "s/^        $verb) words='\(.*\)' ;;/\1/p" "$completion/sotto.bash") "
    zsh_words=$(sed -n "/^  $verb)/,/;;/p" "$completion/_sotto")
    fish_words=$(grep "from $verb' " "$completion/sotto.fish")
    page=$(sed 's/\\-\\-/--/' "$man/sotto-$verb.1")
    [ "$(grep -cE '^\.SH (EXIT STATUS|FILES|SEE ALSO)$' "$man/sotto-$verb.1")" -eq 3 ] || { echo "man: $verb"; return 1; }
    grep -q "fB$verb" "$man/sotto.1"
    while read -r first; do # of a row of subcommands
      [[ $page == *"fB${first//-/\\-}"* ]] || { echo "man: $verb $first"; return 1; }
    done < <("$SOTTO" "$verb" --help | sed -n '/where NAME is one of:$/,/^$/s/^  \([a-z0-9-]*\).*/\1/p')
    names=$(options "$verb")
    [ "$(sort <<< "$names")" = "$(tr ' ' '\n' <<< "$bash_words" | sed -n 's/^--//p' | sort)" ] || { echo "--help all: $verb"; return 1; }
    for option in $names; do # within the shell: there are hundreds
      [[ $page == *"--${option//-/\\-}\\fR"* ]] || { echo "man: $verb $option"; return 1; }
      [[ $bash_words == *" --$option "* ]] || { echo "bash: $verb $option"; return 1; }
      [[ $zsh_words == *"--$option["* ]] || { echo "zsh: $verb $option"; return 1; }
      [[ $fish_words == *"from $verb' -l $option "* ]] || { echo "fish: $verb $option"; return 1; }
    done
  done
}

@test "shells read the completions" {
  bash -n "$completion/sotto.bash"
  ! command -v zsh || zsh -n "$completion/_sotto"
  ! command -v fish || fish -n "$completion/sotto.fish"
}

@test "bash completes verbs and options" {
  run bash -c 'source "$0"; COMP_WORDS=(sotto aud); COMP_CWORD=1; _sotto; echo "${COMPREPLY[*]}"
    COMP_WORDS=(sotto train --eps); COMP_CWORD=2; _sotto; echo "${COMPREPLY[*]}"' "$completion/sotto.bash"
  [ "$output" = $'audit\n--epsilon' ]
}

@test "man pages have no warnings" {
  command -v groff || skip
  for page in "$man"/*.1; do
    run groff -man -Tutf8 -ww -z "$page"
    [ -z "$output" ] || { echo "$page: $output"; return 1; }
  done
}

@test "help is at most 100 columns wide, and as narrow as COLUMNS; the list of verbs goes by floors" {
  [ -z "$("$SOTTO" help | awk 'length > 100')" ]
  [ -z "$(COLUMNS=70 "$SOTTO" help | awk 'length > 70')" ]
  "$SOTTO" help | grep -A1 '^Core: ' | grep -q '^  sotto account'
  for verb in $verbs; do
    for all in '' all; do
      run -0 "$SOTTO" "$verb" --help $all
      [ -z "$(awk 'length > 100' <<< "$output")" ]
      [ -z "$(COLUMNS=70 "$SOTTO" "$verb" --help $all | awk 'length > 70 && !/^  --/ && NF > 1')" ] ||
        { COLUMNS=70 "$SOTTO" "$verb" --help $all | awk 'length > 70'; return 1; }
    done
  done
}

@test "a folder that does not exist is an error" {
  run "$SOTTO" help --man "$BATS_TEST_TMPDIR/none"
  [ "$status" -eq 73 ]
}
