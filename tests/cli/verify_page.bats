#!/usr/bin/env bats
# The verifier in a browser (verifier/verify.html), driven in headless Chromium: its verdict on honest and forged bundles is that of
# sotto-verify.py, which verify_recorder.py writes down. Whatever asks sotto-verify.py can ask the page: a case is a line of such a record.
# label: landing
# shards: 4

load ../support/verifier
load ../support/effort
load ../support/commit

page=$root/verifier/verify.html
recorder=$root/tests/cli/verify_recorder.py

in_browser() { # as verify_page.py has it
  browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
  [ -n "$browser" ] || skip "no chromium or google-chrome on this machine: the verifier's page is not tested"
  "$python" "$root/tests/cli/verify_page.py" "$browser" "$page" "$@"
}
record() {
  export SOTTO_VERIFIER=$verifier SOTTO_RECORD=$PWD/record.jsonl
}
# asked ARGUMENT...: of the recorder, whatever it answers
asked() { "$python" "$recorder" "$@" > /dev/null 2>&1 || [ "$?" -lt 64 ]; }

@test "the page: its known answers, at most 300 KB, no request, 360 and 1280 px, light and dark, contrast, keyboard, drops, stop" {
  protect gaussian --vector v.npy --mechanism gaussian --epsilon 1 --delta 1e-5 --l2 0.01
  in_browser shape gaussian.npy.certificate.json gaussian.npy gaussian.jsonl
  grep -qF "const NEWEST = [$(sed 's/\./, /g' "$root/VERSION")];" "$page"
}

@test "a privacy officer: pages that say another thing, what is missing, keys as people type them" {
  three_releases
  for name in mean.npy run.safetensors; do "$SOTTO" certificate "$name" --ledger mean.jsonl --html -o "${name%%.*}.html"; done
  in_browser officer "$PWD"
}

@test "honest releases, and forgeries of arrays and of heads" {
  record
  protect laplace --vector v.npy --mechanism laplace --epsilon 1 --l1 0.01
  protect logistic --vector v.npy --mechanism logistic --epsilon 1 --delta 1e-5 --l2 0.01
  protect far --vector v.npy --mechanism gaussian --epsilon 1000 --delta 1e-5 --l2 0.01 # a shift of 40 deviations
  protect whole --vector w.npy --mechanism discrete-laplace --epsilon 1 --delta 1e-4 --l1 3 --l2 2
  protect mean --table t.npy --statistic mean --range 0,1 --mechanism gaussian --epsilon 1 --delta 1e-5
  protect frequent --table y.npy --statistic most-frequent --mechanism propose-test-release --classes 2 --epsilon 1 --delta 1e-5
  protect seeded --vector v.npy --mechanism laplace --epsilon 1 --l1 0.01 --insecure-noise-seed 3 2> /dev/null
  for name in far frequent seeded; do asked $name.npy --ledger $name.jsonl; done
  head_by dp-sgd --batch 8 --epochs 1 --noise logistic
  asked --total dp-sgd.jsonl # not decided: this noise has no curve under clipping by L2
  "$SOTTO" head --features x.npy --labels y.npy --classes 2 --trainer convex --quiet -o unprotected.safetensors > /dev/null
  "$SOTTO" protect --head unprotected.safetensors --dataset-id convex --ledger convex.jsonl --epsilon 1 --delta 1e-5 --quiet -o convex.safetensors > /dev/null
  "$python" "$root/tests/cli/forgeries.py" "$recorder" "$SOTTO" "$(part_of_day "$(by_effort 29 17 3)")" laplace logistic whole mean convex
  grep -q '"code": 2,' record.jsonl
  in_browser replay 30 record.jsonl
}

@test "signatures, runs of sampled steps, totals and boxes of ledgers" {
  record
  head_by dp-sgd --batch 8 --epochs 2
  "$python" "$cases" "$recorder" runs "$SOTTO" dp-sgd.safetensors
  "$SOTTO" key new -o office.key > /dev/null
  protect signed --vector v.npy --mechanism laplace --epsilon 1 --l1 0.01 --sign office.key
  "$python" "$cases" "$recorder" signatures "$SOTTO" signed.npy "$(grep -o '"public_key":[ ]*"[0-9a-f]*' office.key | grep -o '[0-9a-f]\{64\}')"
  for i in 1 2; do protect pure --vector v.npy --mechanism laplace --epsilon 0.3 --l1 0.01; done
  "$python" "$cases" "$recorder" offers "$SOTTO" pure.jsonl dp-sgd.jsonl
  plan_of_runs
  for name in dp-sgd signed pure plan; do asked --total $name.jsonl; done
  run "$python" "$verifier" --total plan.jsonl
  [[ "$output" == *"what 1 charge took was derived again; boxes of runs with a shift 1 % larger"* ]]
  in_browser replay 15 record.jsonl
}

@test "the table of forgeries: the page refuses each row, and accepts what is honest" {
  record
  three_releases
  "$python" "$root/tests/cli/forged_rows.py" "$recorder" "$SOTTO" 1/1 mean run planned
  [ "$(wc -l < record.jsonl)" -ge 134 ] # a question that was not written down is not asked
  in_browser replay 129 record.jsonl
}
