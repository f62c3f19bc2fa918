#!/usr/bin/env bats
# Pages as a browser lays them out, at 360 and 1280 pixels, light, dark and on paper: nothing is wider than the window or cut off, all
# text has contrast 4.5, what scrolls says so, the verdict is the first heading, plots are lettered in order, and no heading ends a
# sheet. tests/support/measure_page.js measures; a page with planted faults must fail. Skipped where no browser is installed.

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
  [ -n "$browser" ] || skip "no chromium or google-chrome on this machine: pages are not measured"
  script="$BATS_TEST_DIRNAME/../support/measure_page.js"
}

browse() {
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" "$@" 2> log.txt
}

# measured PAGE WIDTH light|dark|print: the faults, in $output; the first line counts them. A window cannot be as narrow as a phone, so
# the page stands in a frame.
measured() {
  local scheme=1 hash=
  [ "$3" != dark ] || scheme=0
  [ "$3" != print ] || hash='#print'
  awk -v script="$script" '/<\/body>/ { print "<script>"; while ((getline line < script) > 0) print line; print "</script>" } { print }' "$1" |
    sed "s/default-src 'none'; style-src/script-src 'unsafe-inline'; &/" > inner.html # pages without scripts forbid them, this one too
  cat > frame.html << END
<!doctype html><meta name="color-scheme" content="light dark"><iframe width="$2" height="900" src="inner.html$hash" style="border: 0"></iframe>
<pre id="out"></pre>
<script>addEventListener('message', function (e) { document.getElementById('out').textContent = e.data; });</script>
END
  browse --window-size=1400,1000 --blink-settings=preferredColorScheme=$scheme --virtual-time-budget=5000 --dump-dom "file://$PWD/frame.html" > dom.html ||
    skip "the browser does not start here: pages are not measured"
  output=$(sed -n '/<pre id="out">/,/^end/p' dom.html | sed 's/.*<pre id="out">//; s/&lt;/</g; s/&gt;/>/g')
  grep -q "^width $2, dark $([ "$3" = dark ] && echo true || echo false), " <<< "$output" || { echo "not measured: $output"; return 1; }
}

sound() {
  local how
  for how in "360 light" "360 dark" "1280 light" "1280 dark" "703 print"; do
    # shellcheck disable=SC2086
    measured "$1" $how
    [[ "$output" == *", faults 0"* ]] || { echo "$1, $how: $output"; return 1; }
  done
}

# No sheet ends with a heading.
paper() {
  command -v pdftotext > /dev/null || return 0
  browse --no-pdf-header-footer --print-to-pdf="$PWD/page.pdf" "file://$PWD/$1"
  grep -oE '<h[23][^>]*>[^<]+' "$1" | sed 's/<[^>]*>//' > heads.txt
  [ -s heads.txt ]
  pdftotext -layout page.pdf - | awk 'BEGIN { while ((getline head < "heads.txt") > 0) heads[head] = 1; RS = "\f" }
    { n = split($0, line, "\n"); while (n > 0 && line[n] !~ /[^ ]/) n--; gsub(/^ +| +$/, "", line[n])
      if (n > 0 && line[n] in heads) { print "sheet " NR " ends with: " line[n]; bad = 1 } } END { exit bad }'
}

answers() {
  awk -v seed="$1" -v margin="$2" 'BEGIN { srand(seed); for (i = 0; i < 400; i++) { y = i % 4; for (k = 0; k < 4; k++) printf "%s%.6f", k ? "," : "", rand() + (k == y ? margin : 0); print "" } }'
}

audited() {
  answers 3 1.2 > m.csv
  answers 4 .6 > n.csv
  awk 'BEGIN { for (i = 0; i < 400; i++) print i % 4 }' > y.csv
  "$SOTTO" audit --member-logits m.csv --nonmember-logits n.csv --member-labels y.csv --nonmember-labels y.csv --bootstrap 200 "$@" > out.txt
}

@test "the page of an experiment" {
  "$SOTTO" report "$BATS_TEST_DIRNAME/../golden/report_example.json" -o run.html
  sound run.html
  paper run.html
}

@test "the page of an audit" {
  audited --features m.csv --attribute y.csv --claim eps=50,delta=1e-6 -o out
  cp out/report.html audit.html
  sound audit.html
  paper audit.html
}

# A private head of 60 records, its certificate, and an attack that asks it.
head_of_sixty() {
  export XDG_DATA_HOME=$PWD
  "$SOTTO" embed --data synthetic-images-n60 --encoder scattering --labels-out y.npy -o x.npy --quiet > /dev/null
  "$SOTTO" head --features x.npy --labels y.npy --classes 10 --trainer dp-sgd --batch 20 --epochs 1 --epsilon 3 --delta 1e-3 --ledger l.jsonl \
    --quiet -o h.safetensors > /dev/null 2>&1
}

@test "the page of an attack, and of a certificate" {
  head_of_sixty
  "$SOTTO" attack ml-leaks-3 --target h.safetensors --member-features x.npy --member-labels y.npy --nonmember-features x.npy --nonmember-labels y.npy \
    --quiet -o attack > /dev/null
  cp attack/report.html attack.html
  grep -qF '<code>sotto attack ml-leaks-3 --target TARGET --member-features MEMBER_FEATURES --member-labels MEMBER_LABELS --nonmember-features NONMEMBER_FEATURES --nonmember-labels NONMEMBER_LABELS</code>' attack.html
  sound attack.html
  paper attack.html
  "$SOTTO" certificate h.safetensors --ledger l.jsonl --html -o certificate.html
  sound certificate.html
  paper certificate.html
}

@test "the page of a comparison" {
  audited -o one
  audited --attack loss -o two
  "$SOTTO" compare --model one=one/result.json --model two=two/result.json -o both > /dev/null
  cp both/report.html compare.html
  sound compare.html
  paper compare.html
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
