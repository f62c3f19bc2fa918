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

@test "a foreign image could not be loaded even if it got in" {
  sed -i 's#</main>#<img src="http://127.0.0.1:9/x.png"></main>#' page.html
  browse --dump-dom --virtual-time-budget=5000 > dom.html || skip "the browser does not start here"
  grep -q "Content Security Policy" log.txt
}

@test "prints to PDF" {
  browse --no-pdf-header-footer --print-to-pdf="$PWD/page.pdf" || skip "the browser does not start here"
  [ "$(head -c 5 page.pdf)" = "%PDF-" ]
  [ "$(stat -c %s page.pdf)" -gt 50000 ]
}
