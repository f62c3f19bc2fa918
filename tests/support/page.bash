# Pages in a browser, for tests/cli/page.bats and pages.bats.
# shellcheck shell=bash

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
  LC_ALL=C awk -v seed="$1" -v margin="$2" 'BEGIN { srand(seed); for (i = 0; i < 400; i++) { y = i % 4; for (k = 0; k < 4; k++) printf "%s%.6f", k ? "," : "", rand() + (k == y ? margin : 0); print "" } }'
}

audited() {
  answers 3 1.2 > m.csv
  answers 4 .6 > n.csv
  awk 'BEGIN { for (i = 0; i < 400; i++) print i % 4 }' > y.csv
  "$SOTTO" audit --member-logits m.csv --nonmember-logits n.csv --member-labels y.csv --nonmember-labels y.csv --bootstrap 200 "$@" > out.txt
}
