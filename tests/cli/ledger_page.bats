#!/usr/bin/env bats
# sotto ledger show --html: a ledger as one page for the person who answers for the data.
# label: effort

bats_require_minimum_version 1.5.0
load ../support/page

# spend OPTIONS...: a release of x.npy, charged to l.jsonl
spend() { "$SOTTO" protect --vector x.npy --mechanism laplace --l1 1 --ledger l.jsonl -o v.npy --quiet "$@" > /dev/null 2>&1; }
setup_file() {
  open_browser
  cd "$BATS_FILE_TMPDIR" || exit 1
  export XDG_DATA_HOME=$PWD/data
  "$SOTTO" embed --data synthetic-images-n60 --encoder scattering --labels-out y.npy -o x.npy --quiet > /dev/null
  "$SOTTO" ledger init --dataset-id synthetic-images-n60 --budget 5,1e-2 --contact "privacy <office>" --ledger l.jsonl > /dev/null
  spend --scale 5 --purpose "ward <script>alert(1)</script> & \"beds\""
  spend --scale 4 --purpose "means"
}
# Without a browser the words are tested all the same.
setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  export XDG_DATA_HOME=$PWD/data
  cp "$BATS_FILE_TMPDIR"/*.* .
}
# words PAGE: its text alone, in one line
words() { tr '\n' ' ' < "$1" | sed 's/<style>.*<\/style>//; s/<[^>]*>/ /g; s/&lt;/</g; s/&gt;/>/g; s/&quot;/"/g; s/&amp;/\&/g' | tr -s ' '; }
# has PAGE TEXT...
has() {
  words "$1" > words.txt
  local text
  for text in "${@:2}"; do
    grep -qF -- "$text" words.txt || { echo "no '$text' in:"; cat words.txt; return 1; }
  done
}
# total: what the ledger's JSON says was spent, in four digits and up
total() { "$SOTTO" ledger show l.jsonl --json | sed -n 's/^  "total": \([0-9.]*\).*/\1/p' | awk '{ x = int($1 * 1e4); if (x < $1 * 1e4) x++; print x / 1e4 }'; }

@test "the page says what is spent, by which releases, and who may be told what" {
  "$SOTTO" ledger show l.jsonl --html -o page.html
  has page.html "synthetic-images-n60" "Who answers for it: privacy <office>" "Spent: epsilon $(total) at delta 0.01, by 2 charges." "set by the officer" \
    "Used: 9.1 %. Another release fits if its noise is pure and its epsilon at most 4.54." "Spent by all releases of the ledger, as if chosen beforehand, which leaves no more room: epsilon $(total) of 5 at delta 0.01; the budget itself holds for any order of choices." \
    "Everybody" "Protected files and their certificates may be published. Released files in this ledger: 2." \
    "Nobody outside" "The ledger, and this page" "they follow the history of records" "The owner alone" "sotto ledger overlap" "laplace ; files: 1" "means 0.2501 pure 0.2501 or mu "
  [ "$(grep -c '^<tr><td' page.html)" -eq 2 ]
  [ "$(grep -c '<h1 data-verdict>' page.html)" -eq 1 ]
  "$SOTTO" ledger show l.jsonl --html > same.html
  cmp page.html same.html
}

@test "what each column of the budget has left, and which are dead: as the text has it" {
  export XDG_DATA_HOME=$PWD/kept
  "$SOTTO" ledger init --dataset-id synthetic-images-n60 --budget 1,1e-5 --column 0.6:1e-8:1 --ledger kept.jsonl > /dev/null
  "$SOTTO" ledger show kept.jsonl --html -o page.html
  has page.html "What each column of the budget has left" "pure 1 nothing pure 1 " "pure 0.6, mu " "failure 1e-08 nothing pure 0.6, mu "
  "$SOTTO" protect --vector x.npy --mechanism laplace --l1 1 --scale 10 --ledger kept.jsonl -o v.npy --quiet > /dev/null
  "$SOTTO" protect --vector x.npy --mechanism gaussian --l2 1 --scale 12 --delta 1e-6 --ledger kept.jsonl -o v.npy --quiet > /dev/null
  "$SOTTO" ledger show kept.jsonl > text
  "$SOTTO" ledger show kept.jsonl --html -o page.html
  [ "$(grep -c 'is dead: a charge did not fit into it' text)" -eq "$(words page.html | grep -o 'dead: a charge did not fit into it' | wc -l)" ]
  [ "$(grep -c 'has left' text)" -eq 1 ]
  has page.html "pure 1 pure 0.1001 dead: a charge did not fit into it" " pure 0.4999, mu "
  [ -z "$browser" ] || sound page.html
}

@test "a release fits as far as the page says, and not further" {
  "$SOTTO" ledger init --dataset-id synthetic-images-n60 --budget 3,1e-5 --ledger room.jsonl > /dev/null
  release=("$SOTTO" protect --vector x.npy --l1 1 --ledger room.jsonl -o v.npy --quiet)
  "${release[@]}" --mechanism gaussian --epsilon 1 --l2 1 --delta 1e-6 > /dev/null # the column of pure noise alone is dead
  for _ in 1 2; do
    "$SOTTO" ledger show room.jsonl --html -o page.html
    room=$(sed -nE 's/.*noise is pure and its epsilon at most ([0-9.]+)\. .*/\1/p' page.html)
    run -77 "${release[@]}" --mechanism laplace --epsilon "$(awk -v x="$room" 'BEGIN { print 1.02 * x }')"
    "${release[@]}" --mechanism laplace --epsilon "$(awk -v x="$room" 'BEGIN { print x / 2 }')" > /dev/null
  done
  "$SOTTO" ledger show room.jsonl --html -o page.html
  "${release[@]}" --mechanism laplace --epsilon "$(sed -nE 's/.*noise is pure and its epsilon at most ([0-9.]+)\. .*/\1/p' page.html)" > /dev/null
  "$SOTTO" ledger show room.jsonl --html -o page.html
  grep -qE 'Used: (99\.[0-9]|100) %\. (No other release fits|Another release fits if its noise is pure and its epsilon at most 0\.0[0-9]+)\. ' page.html
}

@test "texts of the ledger are escaped, and the page asks nobody" {
  "$SOTTO" ledger show l.jsonl --html -o page.html
  has page.html 'ward <script>alert(1)</script> & "beds"'
  run -1 grep -qE '<script|<office>' page.html
  run -1 grep -qE 'https?:|url\(|@import|src=|href=' page.html
  grep -q "default-src 'none'" page.html
}

@test "a ledger of which nothing was released, and one without a budget" {
  "$SOTTO" ledger init --dataset-id new --budget 2,1e-6 --ledger new.jsonl > /dev/null
  "$SOTTO" ledger show --dataset-id new --html -o page.html
  has page.html "Nothing was released yet." "The budget is epsilon 2 at delta 1e-06" "Used: 0 %. Another release fits if its noise is pure and its epsilon at most 2." "pure 2 nothing pure 2 mu "
  [ "$(grep -c '^<tr><td' page.html)" -eq 0 ]
  run -1 grep -qiE '[^a-z](nan|inf)[^a-z]' page.html
  "$SOTTO" protect --vector x.npy --mechanism laplace --l1 1 --scale 4 --ledger free.jsonl -o v.npy --quiet > /dev/null
  "$SOTTO" ledger show free.jsonl --html -o page.html
  has page.html "Spent: epsilon 0.2501 at delta 0, by 1 charge." "No budget is set. All releases of the ledger together: epsilon 0.2501." "For any order of choices: epsilon 0.5 at delta 1e-06" "No budget has fixed columns yet."
  run -1 grep -qiE '[^a-z](nan|inf)[^a-z]|class="bar"' page.html
}

@test "seeded noise: no guarantee, and the page says so" {
  "$SOTTO" protect --vector x.npy --mechanism laplace --l1 1 --scale 4 --ledger seeded.jsonl -o v.npy --quiet --insecure-noise-seed 3 > /dev/null 2>&1
  "$SOTTO" ledger show seeded.jsonl --html -o page.html
  has page.html "No guarantee holds for all releases together." "Releases with seeded noise, which gives no guarantee: 1." "no finite epsilon" "SEEDED laplace" "none"
  run -1 grep -qiE '[^a-z](nan|inf)[^a-z]' page.html
}

@test "a ledger of before there were columns: what holds for any order is not known" {
  "$SOTTO" ledger show "$BATS_TEST_DIRNAME/../golden/early/exact.jsonl" --html -o page.html
  has page.html "For any order of choices: not known, as the ledger has no columns yet." "No budget has fixed columns yet."
}

@test "errors: no ledger, JSON, a page over its ledger, a folder that is not there" {
  run -66 "$SOTTO" ledger show none.jsonl --html -o page.html
  [ ! -e page.html ]
  run -64 "$SOTTO" ledger show l.jsonl --html --json
  [[ "$output" == *"the page has no JSON form"* ]]
  run -64 "$SOTTO" ledger show l.jsonl -o page.html
  [[ "$output" == *"--output is for the page; add --html"* ]]
  cp l.jsonl before
  run -64 "$SOTTO" ledger show l.jsonl --html -o l.jsonl
  cmp l.jsonl before
  run -73 "$SOTTO" ledger show l.jsonl --html -o nowhere/page.html
  run -64 "$SOTTO" ledger init --dataset-id b --budget 1 --html
  [[ "$output" == *"--html is an option of 'ledger show'"* ]]
}

@test "a hundred charges are rows, in a time of seconds" {
  awk 'BEGIN { printf "{\"history\": ["; for (i = 0; i < 100; i++) printf "%s[20, 1, 1]", i ? ", " : ""; print "], \"mechanism\": \"rdp\"}" }' > opacus.json
  "$SOTTO" account --opacus-history opacus.json --import --ledger many.jsonl --delta 1e-5 > /dev/null
  timeout 60 "$SOTTO" ledger show many.jsonl --html -o page.html
  [ "$(grep -c '^<tr><td' page.html)" -eq 100 ]
  [ "$(wc -c < page.html)" -lt 80000 ]
  [ -n "$browser" ] || return 0
  measured page.html 360 light
  [[ "$output" == *", faults 0"* ]] || { echo "$output"; return 1; }
}

@test "the page on screens and on paper" {
  [ -n "$browser" ] || skip "no chromium or google-chrome on this machine: pages are not measured"
  "$SOTTO" ledger show l.jsonl --html -o page.html
  sound page.html
  paper page.html
}
