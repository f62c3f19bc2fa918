#!/usr/bin/env bats
# The page of a certificate, for the person who may sign it: two sheets of paper, the verdict in words, and what is signed.
# label: effort
# shards: 2

bats_require_minimum_version 1.5.0
load ../support/page

setup_file() {
  open_browser
  cd "$BATS_FILE_TMPDIR" || exit 1
  export XDG_DATA_HOME=$PWD/data
  "$SOTTO" embed --data synthetic-images-n60 --encoder scattering --labels-out y.npy -o x.npy --quiet > /dev/null
  "$SOTTO" ledger init --dataset-id synthetic-images-n60 --budget 5,1e-2 --contact "privacy <office>" --ledger l.jsonl > /dev/null
  "$SOTTO" head --features x.npy --labels y.npy --classes 10 --trainer dp-sgd --batch 20 --epochs 1 --epsilon 0.3 --delta 1e-3 --ledger l.jsonl \
    --purpose "ward <outcomes>" --quiet -o h.safetensors > /dev/null 2>&1
  "$SOTTO" head --features x.npy --labels y.npy --classes 10 --trainer dp-sgd --batch 60 --epochs 1 --noise-multiplier 0.3 --delta 1e-3 --ledger weak.jsonl \
    --quiet -o weak.safetensors > /dev/null 2>&1
  "$SOTTO" protect --vector x.npy --mechanism laplace --scale 3 --l1 1 --read-from-data clipping --rows-per-person 2 --ledger v.jsonl -o v.npy --quiet > /dev/null
}

# Without a browser the words are tested all the same.
setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  cp "$BATS_FILE_TMPDIR"/*.* .
}
# words PAGE: its text alone, in one line
words() { tr '\n' ' ' < "$1" | sed 's/<style>.*<\/style>//; s/<[^>]*>//g; s/&lt;/</g; s/&gt;/>/g; s/\xc2\xa0/ /g' | tr -s ' '; }
# has PAGE TEXT...
has() {
  words "$1" > words.txt
  local text
  for text in "${@:2}"; do
    grep -qF -- "$text" words.txt || { echo "no '$text' in:"; cat words.txt; return 1; }
  done
}
# two_sheets PAGE: on A4 and on Letter
two_sheets() {
  local paper
  [ -n "$browser" ] || skip "no chromium or google-chrome on this machine: sheets are not counted"
  for paper in A4 Letter; do
    printed "$1" $paper
    [ "$(grep -aoE '/Count [0-9]+' page.pdf)" = "/Count 2" ] || { echo "$1 on $paper: $(grep -aoE '/Count [0-9]+' page.pdf)"; return 1; }
  done
}

@test "a proved release: what, of whom, by whom, how strong, what was checked, and what is signed" {
  "$SOTTO" certificate h.safetensors --ledger l.jsonl --html -o page.html
  has page.html "Classifier on features" "Made from 60 records of the data set “synthetic-images-n60”" "Purpose: ward <outcomes>" "Who answers for it: privacy <office>" \
    "Proved: epsilon at most 0.3 at delta 0.001 for one record (replace-one)." \
    "Anyone who studies this model, by any method and with any other knowledge, finds at most 1.45 % of the records at 1 % false alarms. Guessing finds 1 %." \
    "ε ≤ 1 very strong: this release" "Used: 0.7 %. Another release fits if its noise is pure and its epsilon at most " "Spent by all releases of the ledger, this one included, as if chosen beforehand, which leaves no more room: epsilon " " of 5 at delta 0.01" "the budget itself holds for any order of choices" \
    "Not checked" "You confirm by signing" "The ledger is kept" "Digital signature: none" "Paper proves none of this. Check file and certificate in your browser with a verify.html that you put here yourself" "two records have about epsilon 0.6, five 1.5." "If you do not know one of these, do not sign" "Technical annex"
  grep -qF "$(sha256sum h.safetensors | cut -d' ' -f1)" page.html
  grep -q '<a href="verify.html">' page.html
  [ "$(grep -c '<h1 data-verdict>' page.html)" -eq 1 ]
  run -1 grep -qF '<outcomes>' page.html
}

@test "two sheets of A4 and of Letter, also with conditions and without a ledger" {
  "$SOTTO" certificate h.safetensors --ledger l.jsonl --prior 0.01 --html -o page.html
  two_sheets page.html
  "$SOTTO" certificate v.npy --html -o conditional.html
  two_sheets conditional.html
}

# said WORD: so many words that the officer's text has 150 bytes
said() { printf "$1 %.0s" $(seq 150) | cut -c1-150; }

@test "two sheets for a fine-tuned network with long settings, conditions and texts" {
  export XDG_DATA_HOME=$PWD/home
  "$SOTTO" data split synthetic-images-n64 --parts public=30,private=34 --seed 1 -o parts --quiet > /dev/null
  "$SOTTO" pretrain --data synthetic-images-n64 --indices parts/public-rows.npy --encoder resnet8 --epochs 1 --batch 10 --dtype f32 --backend dnnl --threads 1 --quiet -o e.safetensors > /dev/null
  "$SOTTO" embed --data synthetic-images-n64 --indices parts/public-rows.npy --encoder e.safetensors -o p.npy --quiet > /dev/null
  "$SOTTO" ledger init --dataset-id synthetic-images-n64 --budget 3,1e-2 --contact "$(said contact)" --curator "$(said curator)" --use "$(said use)" --region "$(said region)" \
    --sector "$(said sector)" --rationale "$(said why)" --ledger n.jsonl > /dev/null
  "$SOTTO" train --data synthetic-images-n64 --indices parts/private-rows.npy --from e.safetensors --freeze 2 --standardise p.npy --encoder-by "the company that made it, Example Imaging Limited, by letter of 3 May 2026" --dp-sgd --epsilon 0.3 --delta 1e-3 \
    --batch 17 --epochs 2 --warm-up 1 --crop 2 --flip --views 2 --schedule cosine --clipping automatic --rows-per-person 3 --read-from-data max-grad-norm --read-from-data lr \
    --purpose "$(said purpose)" --dtype f32 --backend dnnl --threads 1 --ledger n.jsonl --quiet -o n.safetensors > /dev/null
  "$SOTTO" certificate n.safetensors --ledger n.jsonl --prior 0.01 --html -o page.html
  has page.html "Neural network (resnet8)" "The choice of lr tells nothing about the records" "Standardising rows"
  two_sheets page.html
  sound page.html
  # an encoder that was certified on the same records: nobody says that it is public
  export XDG_DATA_HOME=$PWD/other
  private=(--data synthetic-images-n64 --indices parts/private-rows.npy --dp-sgd --epsilon 0.3 --delta 1e-3 --batch 17 --epochs 1 --dtype f32 --backend dnnl --threads 1 --ledger m.jsonl --quiet)
  "$SOTTO" train "${private[@]}" --from e.safetensors --freeze 2 -o encoder.safetensors > /dev/null
  "$SOTTO" train "${private[@]}" --from encoder.safetensors --freeze 2 -o m.safetensors > /dev/null
  "$SOTTO" certificate m.safetensors --ledger m.jsonl --html -o page.html
  has page.html "That counts this training alone. The encoder is certified with epsilon 0.3 at delta 0.001; with this training at most epsilon 0.6 at delta 0.002" "own certificate holds" "These records pay for the encoder too, so its guarantee is added to this one: epsilon 0.3 at delta 0.001."
  "$SOTTO" certificate m.safetensors --ledger m.jsonl --card card.yaml --model-card card.md > /dev/null
  grep -q '^  encoder_counted_apart: "certified with epsilon 0.3 at delta 0.001; with this training at most epsilon 0.6' card.yaml
  grep -q 'That counts this training alone. The encoder is:\*\* certified with epsilon 0.3' card.md
  two_sheets page.html
}

@test "conditions are sentences that the person confirms" {
  "$SOTTO" certificate v.npy --ledger v.jsonl --html -o page.html
  has page.html "Conditional: epsilon at most 0.666667 at delta 0 for one person (replace-one), if what you confirm by signing is true." \
    "You confirm by signing One unit of privacy changes the values by no more than the sensitivity that the caller stated. The choice of clipping tells nothing about the records, although it was read from the private data. A person has at most 2 rows in these records."
  "$SOTTO" certificate v.npy --ledger v.jsonl > text
  grep -q "Conditions  *One unit of privacy" text
  run -1 grep -E "only if that|only if the" text
}

@test "beyond epsilon 20 there is no meaningful guarantee, and a page with --force only" {
  run -65 "$SOTTO" certificate weak.safetensors --ledger weak.jsonl --html -o page.html
  [[ "$output" == *"No meaningful guarantee: epsilon is "*"expected an epsilon of at most 20"*"force"* ]]
  [ ! -e page.html ]
  "$SOTTO" certificate weak.safetensors --ledger weak.jsonl --html --force -o page.html
  has page.html "No meaningful guarantee: epsilon is " "more: none to speak of: this release"
  grep -q '<title>No meaningful guarantee' page.html
  run -1 grep -q "Proved" page.html
  two_sheets page.html
  "$SOTTO" certificate weak.safetensors --ledger weak.jsonl > text # as text without force: it is no page to sign
  grep -q "mu (Gaussian DP)" text
}

@test "of what does not verify the page says what failed, and nothing else" {
  sed -i 's/"records": 60/"records": 61/' h.safetensors.certificate.json
  for form in "" --html; do
    # shellcheck disable=SC2086
    run -1 "$SOTTO" certificate h.safetensors --ledger l.jsonl $form -o page
    has page "FAILED" "Do not rely on this certificate, and do not sign it."
    words page > words.txt
    run -1 grep -iE "proved|epsilon at most|signing|Curve" words.txt
  done
  grep -q '<h1 data-verdict><bdi>This certificate does not verify: ' page
}

@test "the page on screens and on paper" {
  [ -n "$browser" ] || skip "no chromium or google-chrome on this machine: pages are not measured"
  "$SOTTO" certificate h.safetensors --ledger l.jsonl --html -o page.html
  sound page.html
  paper page.html
  "$SOTTO" certificate weak.safetensors --html --force -o weak.html
  sound weak.html
}
