#!/usr/bin/env bats
# Pages as a browser lays them out, at 360 and 1280 pixels, light, dark and on paper: nothing is wider than the window or cut off, all
# text has contrast 4.5, what scrolls says so, the verdict is the first heading, plots are lettered in order, and no heading ends a
# sheet. tests/support/measure_page.js measures; a page with planted faults must fail. Skipped where no browser is installed.
# label: effort

load ../support/page

@test "the page of an experiment" {
  "$SOTTO" report "$BATS_TEST_DIRNAME/../golden/report_example.json" -o run.html
  sound run.html
  paper run.html
  [ "$(grep -ac '/Type /Page$' page.pdf)" -le 8 ]
}

@test "the page of an audit" {
  audited --features m.csv --attribute y.csv --claim eps=50,delta=1e-6 -o out
  cp out/report.html audit.html
  grep -q '<h3>Accuracy by class</h3>' audit.html
  [ "$(grep -o '"class": *[0-3],' out/result.json | wc -l)" -eq 4 ] || [ "$(grep -o '"class":[0-3],' out/result.json | sort -u | wc -l)" -eq 4 ]
  sound audit.html
  paper audit.html
}

@test "a page with planted faults fails" {
  "$SOTTO" report "$BATS_TEST_DIRNAME/../golden/report_example.json" -o run.html
  planted() { # planted HOW SED WORDS...: a page with these faults, and words of each of them
    sed "$2" run.html > bad.html
    measured bad.html "${1% *}" "${1#* }"
    shift 2
    for words in "$@"; do
      [[ "$output" == *"$words"* ]] || { echo "$words is not among: $output"; return 1; }
    done
  }
  planted "360 light" 's#<main>#<main><p style="white-space: nowrap">one line that is too long for the screen of a phone</p><div style="overflow: hidden"><p style="width: 3em; overflow: hidden; white-space: nowrap">a line that is cut off</p></div>#
    s#.scroll.wide::before { display: block; }##' 'page: ' 'outside: ' 'cut off: ' 'no sign of scrolling'
  planted "1280 light" 's#<main>#<main><p style="color: \#888">pale</p>#; s#Plot B: #Plot A: #; s#<h1#<h2>Another</h2><h1#' \
    'contrast: <p> "pale"' 'plot 2 is called A, not B' 'the first heading is not the one <h1>'
  planted "1280 dark" 's#<main>#<main><p style="color: \#666">pale</p>#; s# data-verdict##' 'contrast: <p> "pale"' 'the first heading is not the verdict'
  planted "703 print" 's#h1, h2, h3, caption, summary#h1#' 'a page may break below'
  sed 's#<main>#<main><h2>Orphan</h2><p style="break-before: page">text</p>#' run.html > bad.html
  if command -v pdftotext > /dev/null; then run paper bad.html; [[ "$status" -eq 1 && "$output" == *"ends with: Orphan"* ]]; fi
}
