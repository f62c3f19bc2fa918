#!/usr/bin/env bats
# The page in a real browser: no console message, nothing loaded, every chart drawn, prints. Skipped without Chromium.

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
  [ -n "$browser" ] || skip "no chromium or google-chrome on this machine"
  "$SOTTO" report "$BATS_TEST_DIRNAME/../golden/report_example.json" -o page.html
}

browse() {
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --enable-logging=stderr "$@" \
    "file://$PWD/page.html" 2> log.txt
}

@test "no console message, and every chart is drawn" {
  browse --dump-dom --virtual-time-budget=5000 > dom.html || skip "the browser does not start here"
  [ -s dom.html ]
  run grep -iE 'CONSOLE|Refused to|Uncaught' log.txt
  [ "$status" -eq 1 ]
  grep -q '<html lang="en" class="drawn"' dom.html
  # Chart.js gives each canvas it drew on a display style and a size.
  total=$(grep -o '<canvas [^>]*>' dom.html | wc -l)
  drawn=$(grep -o '<canvas [^>]*>' dom.html | grep 'style="display: block' | grep -cv 'width="0"')
  [ "$total" -ge 5 ]
  [ "$drawn" -eq "$total" ]
}

@test "an error in the page would be noticed" {
  sed -i 's/JSON.parse(/JSON.purse(/' page.html
  browse --dump-dom --virtual-time-budget=5000 > dom.html || skip "the browser does not start here"
  grep -qE 'CONSOLE|Uncaught' log.txt
}

@test "an external image cannot be loaded even if it were in the page" {
  sed -i 's#</main>#<img src="http://127.0.0.1:9/x.png"></main>#' page.html
  browse --dump-dom --virtual-time-budget=5000 > dom.html || skip "the browser does not start here"
  grep -q "Content Security Policy" log.txt
}

@test "prints to PDF" {
  browse --no-pdf-header-footer --print-to-pdf="$PWD/page.pdf" || skip "the browser does not start here"
  [ "$(head -c 5 page.pdf)" = "%PDF-" ]
  [ "$(stat -c %s page.pdf)" -gt 50000 ]
}

@test "the page of an audit: every chart drawn, claim and checks on it, nothing on the console" {
  LC_ALL=C awk 'BEGIN { srand(3); for (i = 0; i < 400; i++) { y = i % 4; for (k = 0; k < 4; k++) printf "%s%.6f", k ? "," : "", rand() + (k == y ? 1.2 : 0); print "" } }' > m.csv
  LC_ALL=C awk 'BEGIN { srand(4); for (i = 0; i < 400; i++) { y = i % 4; for (k = 0; k < 4; k++) printf "%s%.6f", k ? "," : "", rand() + (k == y ? .6 : 0); print "" } }' > n.csv
  awk 'BEGIN { for (i = 0; i < 400; i++) print i % 4 }' > y.csv
  "$SOTTO" audit --member-logits m.csv --nonmember-logits n.csv --member-labels y.csv --nonmember-labels y.csv --features m.csv --attribute y.csv \
    --claim eps=50,delta=1e-6 --bootstrap 200 --title '</script><b>' -o out > /dev/null 2>&1
  cp out/report.html page.html
  browse --dump-dom --virtual-time-budget=5000 > dom.html || skip "the browser does not start here"
  run grep -iE 'CONSOLE|Refused to|Uncaught' log.txt
  [ "$status" -eq 1 ]
  total=$(grep -o '<canvas [^>]*>' dom.html | wc -l)
  drawn=$(grep -o '<canvas [^>]*>' dom.html | grep 'style="display: block' | grep -cv 'width="0"')
  [ "$total" -eq 2 ]
  [ "$drawn" -eq 2 ]
  for id in checks claim attacks exposed attribute; do grep -q "id=\"$id\"" dom.html; done
  # Checks stand behind the verdict, folded.
  [ "$(grep -n 'id="checks"' dom.html | head -1 | cut -d: -f1)" -gt "$(grep -n 'id="verdict"' dom.html | head -1 | cut -d: -f1)" ]
  grep -A 3 'id="checks"' dom.html | grep -q '<details><summary>' 
}
