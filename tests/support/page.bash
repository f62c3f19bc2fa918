# Pages in a browser, for tests/cli/page.bats, pages.bats, certificate_page.bats and ledger_page.bats. One browser serves all tests of a file.
# shellcheck shell=bash
load ../support/effort

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  [ -n "$browser" ] || skip "no chromium or google-chrome on this machine: pages are not measured"
}

# A file with a setup_file or a teardown_file of its own calls these in it.
open_browser() {
  [ -n "$browser" ] || return 0
  export pipes=$BATS_FILE_TMPDIR/browser
  mkdir "$pipes"
  mkfifo "$pipes/ask" "$pipes/answer"
  python3 "$BATS_TEST_DIRNAME/../support/browser.py" "$browser" "$pipes/ask" "$pipes/answer" > "$pipes/log" 2>&1 3>&- &
  page_browser=$!
}
close_browser() {
  [ -n "$page_browser" ] || return 0
  kill "$page_browser" && wait "$page_browser" || return 0
}
setup_file() { open_browser; }
teardown_file() { close_browser; }

# ask QUESTION: of tests/support/browser.py; its answer in $output
ask() {
  # shellcheck disable=SC2016
  output=$(timeout 60 bash -c 'echo "$2" > "$1/ask"; cat "$1/answer"' - "$pipes" "$1") || { tail -n 3 "$pipes/log"; skip "the browser does not start here: pages are not measured"; }
}

# measured PAGE WIDTH light|dark|print: the faults, in $output; the first line counts them.
measured() {
  ask "measure $2 $3 $PWD/$1"
  grep -q "^width $2, $3, faults " <<< "$output" || { echo "not measured: $output"; return 1; }
}

# Each width and each colour once, all pairs of them at the landing.
sound() {
  local how more
  more=$(by_effort "" "360 dark,1280 light" "360 dark,1280 light")
  IFS=, read -ra more <<< "$more"
  for how in "360 light" "1280 dark" "703 print" "${more[@]}"; do
    # shellcheck disable=SC2086
    measured "$1" $how
    [[ "$output" == *", faults 0"* ]] || { echo "$1, $how: $output"; return 1; }
  done
}

# printed PAGE [PAPER]: to page.pdf
printed() {
  rm -f page.pdf
  ask "print ${2:--} $PWD/$1 $PWD/page.pdf"
  [ "$output" = printed ] || { echo "$1: $output"; return 1; }
}

# No sheet ends with a heading.
paper() {
  printed "$1"
  command -v pdftotext > /dev/null || return 0
  grep -oE '<h[23][^>]*>[^<]+' "$1" | sed 's/<[^>]*>//' > heads.txt
  [ -s heads.txt ]
  pdftotext -layout page.pdf - | awk 'BEGIN { while ((getline head < "heads.txt") > 0) heads[head] = 1; RS = "\f" }
    { n = split($0, line, "\n"); while (n > 0 && line[n] !~ /[^ ]/) n--; gsub(/^ +| +$/, "", line[n])
      if (n > 0 && line[n] in heads) { print "sheet " NR " ends with: " line[n]; bad = 1 } } END { exit bad }'
}

answers() {
  LC_ALL=C awk -v seed="$1" -v margin="$2" 'BEGIN { srand(seed); for (i = 0; i < 400; i++) { y = i % 4; for (k = 0; k < 4; k++) printf "%s%.6f", k ? "," : "", rand() + (k == y ? margin : 0); print "" } }'
}

audited() {
  answers 3 1.2 > m.csv
  answers 4 .6 > n.csv
  awk 'BEGIN { for (i = 0; i < 400; i++) print i % 4 }' > y.csv
  "$SOTTO" audit --member-logits m.csv --nonmember-logits n.csv --member-labels y.csv --nonmember-labels y.csv --bootstrap 200 "$@" > out.txt
}
