#!/usr/bin/env bats
# sotto certificate: what it says to the person who answers for the data, as text (certificate_page.bats: the page to sign).

bats_require_minimum_version 1.5.0

# release OPTIONS...: a private head with much noise, whose account takes little time
release() {
  "$SOTTO" head --features x.npy --labels y.npy --classes 10 --trainer dp-sgd --batch 20 --epochs 1 --epsilon 0.3 --delta 1e-3 --ledger l.jsonl \
    --purpose "a trial" --quiet -o h.safetensors "$@" > /dev/null 2>&1
}
# Tests share three folders: records; these and a release of them; records and a seeded release.
setup_file() {
  export XDG_DATA_HOME=$BATS_FILE_TMPDIR/data
  mkdir "$BATS_FILE_TMPDIR/records" && cd "$BATS_FILE_TMPDIR/records" || exit 1
  "$SOTTO" embed --data synthetic-images-n60 --encoder scattering --labels-out y.npy -o x.npy --quiet > /dev/null
  cp -r . ../released && cp -r . ../seeded
  (cd ../released && release)
  (cd ../seeded && release --insecure-noise-seed 3)
}
setup() {
  cd "$BATS_TEST_TMPDIR" || exit 1
  export XDG_DATA_HOME=$PWD/data
}
# given FOLDER: one of those of setup_file
given() { cp "$BATS_FILE_TMPDIR/$1"/* .; }
# says LABEL TEXT: a line of the page, however it is broken
says() { tr -s '\n ' ' ' < page | grep -qF "$1 $2" || { echo "no '$1 $2' in:"; cat page; return 1; }; }

@test "a proved certificate answers an officer's questions" {
  given released
  "$SOTTO" certificate h.safetensors --ledger l.jsonl > page
  says "Guarantee" "proved"
  says "Epsilon" "0.3 (the upper end"
  says "Delta" "0.001, below 1/n = 0.01667"
  says "Unit of privacy" "one record."
  says "Where it is added" "to the sum of clipped gradients in each of 3 steps"
  says "Sensitivity" "enforced by clipping, L2 1"
  says "Spent in all" "epsilon 0.3 at delta 0.001 in the ledger (entries: 1)"
  says "Classes" "10, as given by --classes"
  says "trainer" "dp-sgd"
  says "Model" "classifier on features (softmax head):"
  says "Preprocessing" "none is recorded"
  says "purpose" "$(grep -o '"time": "[^"]*' h.safetensors.certificate.json | cut -d'"' -f4), a trial"
  says "made" "ledger's chain is whole and holds this release"
  [ "$(awk '{ if (length($0) > m) m = length($0) } END { print m }' page)" -le 100 ]
}

@test "the constant of Adam is called no epsilon" {
  given records
  "$SOTTO" head --features x.npy --labels y.npy --classes 10 --trainer dp-adam --batch 20 --epochs 1 --epsilon 0.3 --delta 1e-3 --ledger l.jsonl --quiet \
    -o h.safetensors > /dev/null 2>&1
  grep -q '\\"epsilon\\":1e-07' h.safetensors
  "$SOTTO" certificate h.safetensors > page
  tr -s '\n ' ' ' < page | grep -qF "optimizer's constant 1e-07"
  run -1 grep -E 'epsilon 1e-07' page
}

@test "a prior adds the bound on reconstruction; a seeded release has none" {
  given released
  "$SOTTO" certificate h.safetensors --prior 0.001 > page
  says "Reconstruction" "one record, all others known, is guessed from this release with probability at most 0.0"
  says "with probability 0.001 without; proved for this release alone" ""
  "$SOTTO" certificate h.safetensors --prior 0.01 --html | grep -q "Reconstruction"
  "$SOTTO" certificate h.safetensors > page
  run grep Reconstruction page
  [ "$status" -eq 1 ]
  for bad in 0 1 -1 x nan 0.1x; do
    run "$SOTTO" certificate h.safetensors "--prior=$bad"
    [ "$status" -eq 64 ]
    [[ "$output" == *"is not a probability; expected a number in (0, 1)"* ]]
  done
  given seeded
  "$SOTTO" certificate h.safetensors --prior 0.001 > page
  run grep Reconstruction page
  [ "$status" -eq 1 ]
}

@test "mu and the curve of a release, under what its guarantee rests on" {
  given released
  "$SOTTO" certificate h.safetensors > page
  says "mu (Gaussian DP)" "0.141818, off by at most 1.01e-09 in delta; proved for this release alone"
  says "Curve" "true-positive rate at most 0.16 % at 0.1 %, 1.45 % at 1 %, 12.8 % at 10 % false positives; proved for this release alone"
  "$SOTTO" certificate h.safetensors --html | grep -q "mu (Gaussian DP)"
  "$SOTTO" protect --vector x.npy --mechanism gaussian --scale 2 --l2 1 --delta 1e-5 --ledger v.jsonl -o v.npy --quiet > /dev/null
  "$SOTTO" certificate v.npy > page   # mu is l2 / scale, a little more by the lattice
  says "mu (Gaussian DP)" "0.500001; under the same condition, for this release alone"
  says "Curve" "true-positive rate at most 0.48 % at 0.1 %, 3.39 % at 1 %, 21.8 % at 10 % false positives; under the same condition"
  "$SOTTO" protect --vector x.npy --mechanism laplace --scale 2 --l1 1 --ledger v.jsonl -o w.npy --quiet > /dev/null
  "$SOTTO" certificate w.npy > page   # of a pure epsilon: no failure, and e^epsilon times the false positives
  says "mu (Gaussian DP)" "0.5"
  says "Curve" "true-positive rate at most 0.165 % at 0.1 %, 1.65 % at 1 %, 16.5 % at 10 % false positives"
  given seeded
  "$SOTTO" certificate h.safetensors > page
  run -1 grep -E 'mu \(|Curve' page
  given released
  sed -i 's/"records": 60/"records": 61/' h.safetensors.certificate.json
  "$SOTTO" certificate h.safetensors > page 2> /dev/null || true   # it does not verify
  grep -q "FAILED" page
  run -1 grep -E 'mu \(|Curve' page
}

@test "the ledger's contact is on the page" {
  given records
  "$SOTTO" ledger init --dataset-id synthetic-images-n60 --budget 5,1e-2 --contact "privacy <office>" --ledger l.jsonl > /dev/null
  release
  "$SOTTO" certificate h.safetensors --ledger l.jsonl > page
  says "Responsible" "privacy <office>"
  says "Budget" "epsilon 5, delta 0.01"
  says "Any order of choices" "epsilon 5 at delta 0.01 holds, however each release was chosen by those before"
  "$SOTTO" certificate h.safetensors --ledger l.jsonl --html | grep -qF "privacy &lt;office&gt;"
}

@test "without a ledger the page says what is not known" {
  given released
  "$SOTTO" certificate h.safetensors > page
  says "Responsible" "not known: no ledger was given"
  says "Budget" "not known: no ledger was given"
  says "not made" "the ledger, as none was given"
}

@test "a condition is no proof, and seeded noise guarantees nothing" {
  given records
  "$SOTTO" protect --vector x.npy --mechanism laplace --scale 3 --l1 1 --ledger v.jsonl -o v.npy --quiet > /dev/null
  "$SOTTO" certificate v.npy > page
  says "Guarantee" "CONDITIONAL, which is no proof: it holds only if"
  given seeded
  "$SOTTO" certificate h.safetensors > page
  says "Guarantee" "NONE: the noise was seeded"
}

@test "a changed certificate is shown as failed, with exit code 1, and cannot steer the terminal or the page" {
  given released
  sed -i 's/a trial/<b>\\u001b[31m\\u009b/; s/"records": 60/"records": 61/; s/"version": "[^"]*/"version": "<b>\\u001b[31m\\u009b/' h.safetensors.certificate.json
  run "$SOTTO" certificate h.safetensors --ledger l.jsonl
  [ "$status" -eq 1 ]
  [[ "$output" == *"FAILED"* ]]
  "$SOTTO" certificate h.safetensors --ledger l.jsonl > page 2> /dev/null || true
  run -1 grep -q "$(printf '\033')" page
  "$SOTTO" certificate h.safetensors --html -o page.html 2> /dev/null || true
  grep -q "FAILED" page.html
  run -1 grep -q "<b>" page.html
  grep -q "&lt;b&gt;" page.html
}
