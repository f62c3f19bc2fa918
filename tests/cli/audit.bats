#!/usr/bin/env bats
# sotto audit and sotto report: files, messages, exit codes, JSON. Arrays are made with CSV and printf: no python.

bats_require_minimum_version 1.5.0
load ../support/npy

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  LC_ALL=C awk 'BEGIN { srand(1); for (i = 0; i < 300; i++) print rand() }' > m.csv
  LC_ALL=C awk 'BEGIN { srand(2); for (i = 0; i < 400; i++) print rand() + 0.2 }' > n.csv
  LC_ALL=C awk 'BEGIN { srand(3); for (i = 0; i < 60; i++) { y = i % 3; for (k = 0; k < 3; k++) printf "%s%.6f", k ? "," : "", rand() + (k == y ? 2 : 0); print "" } }' > ml.csv
  LC_ALL=C awk 'BEGIN { srand(4); for (i = 0; i < 90; i++) { y = i % 3; for (k = 0; k < 3; k++) printf "%s%.6f", k ? "," : "", rand() + (k == y ? 1 : 0); print "" } }' > nl.csv
  awk 'BEGIN { for (i = 0; i < 60; i++) print i % 3 }' > ym.csv
  awk 'BEGIN { for (i = 0; i < 90; i++) print i % 3 }' > yn.csv
}

logits() { "$SOTTO" audit --member-logits ml.csv --nonmember-logits nl.csv --member-labels ym.csv --nonmember-labels yn.csv "$@"; }

@test "audit writes result, report and page, readable by the owner only" {
  run logits -o out
  [ "$status" -eq 0 ]
  [ -s out/result.json ]
  [ -s out/report.json ]
  [ -s out/report.html ]
  [ "$(stat -c %a out)" = 700 ]
  [ "$(stat -c %a out/report.html)" = 600 ]
  [ "$(stat -c %s out/report.html)" -lt 300000 ]
  [[ "$output" == *"60 members, 90 non-members"* ]]
  [[ "$output" == *"modified-entropy"* ]]
  run -1 grep -q 'ml.csv' out/report.html out/report.json
}

@test "accuracy stands beside balanced accuracy and the share of the most frequent class" {
  awk 'BEGIN { for (i = 0; i < 90; i++) print i < 10 ? 0 : 1 }' > y.csv
  awk 'BEGIN { for (i = 0; i < 90; i++) print "0," 1 + i / 100 }' > l.csv # class 1, whatever comes
  run "$SOTTO" audit --member-logits l.csv --nonmember-logits l.csv --member-labels y.csv --nonmember-labels y.csv -o skewed
  [[ "$output" == *$'\n'"accuracy of the model: 88.9 [80.5, 94.5] % on members, 88.9 [80.5, 94.5] % on non-members (balanced 50 %; who always answers class 1: 88.9 %)"$'\n'* ]] || { echo "$output"; false; }
}

@test "--json prints exactly one object with the contract's members" {
  logits --json > o.json 2> err.txt
  [ "$(wc -l < o.json)" -eq 1 ]
  for key in '"schema":"sotto.audit/1"' '"auc":{"estimate":' '"tpr_at_fpr":{"0.01":null,"0.001":null}' '"balanced_accuracy":' '"epsilon_lower_bound":'; do
    grep -qF "$key" o.json
  done
  for name in loss confidence entropy modified-entropy correctness; do grep -q "\"name\":\"$name\"" o.json; done
  grep -q '^sotto: warning: 90 non-members: the smallest measurable FPR is 1.11 %, so TPR at 1 % FPR is not reported' err.txt
}

@test "same inputs, same bytes" {
  logits --json > 1.json 2>/dev/null
  logits --json > 2.json 2>/dev/null
  cmp 1.json 2.json
  SOURCE_DATE_EPOCH=0 logits -o a 2>/dev/null >/dev/null
  SOURCE_DATE_EPOCH=0 logits -o b 2>/dev/null >/dev/null
  cmp a/report.html b/report.html
}

@test "losses and scores from CSV" {
  run "$SOTTO" audit --member-losses m.csv --nonmember-losses n.csv --fpr 0.05,0.1
  [ "$status" -eq 0 ]
  [[ "$output" == *"loss "* ]]
  [[ "$output" == *"TPR at FPR 0.05"* ]]
  paste -sd '\n' m.csv n.csv > s.csv
  { yes 1 | head -300; yes 0 | head -400; } > b.csv
  run "$SOTTO" audit --scores s.csv --membership b.csv --json
  [ "$status" -eq 0 ]
  [[ "$output" == *'"name":"scores"'* ]]
}

@test "members and non-members need the same classes" {
  cut -d, -f1,2 nl.csv > two.csv
  run "$SOTTO" audit --member-logits ml.csv --nonmember-logits two.csv
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: two.csv: has shape (90, 2); expected (m, classes), classes = 3 as in ml.csv" ]
}

@test "NaN rows are refused by count and place" {
  awk -F, -v OFS=, 'NR == 18 { $3 = "nan" } NR == 31 { $1 = "nan" } NR == 40 { $1 = $2 = "nan" } 1' nl.csv > bad.csv
  run "$SOTTO" audit --member-logits ml.csv --nonmember-logits bad.csv
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: bad.csv: 3 of 90 rows contain NaN (first: row 17, column 2); logits must be finite" ]
}

@test "pickled arrays are refused" {
  printf 'cos\nsystem\n' | npy m.npy '|O' '3,'
  run "$SOTTO" audit --member-logits m.npy --nonmember-logits nl.csv
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: m.npy: dtype '|O' means pickled Python objects, which could run code; save float32 with allow_pickle=False" ]
}

@test "an f8 .npy is read in double precision" {
  # 0.0 and 1.0 as little-endian doubles
  printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xf0\x3f' | npy a.npy '<f8' '2,'
  run "$SOTTO" audit --member-losses a.npy --nonmember-losses a.npy --json
  [ "$status" -eq 0 ]
  [[ "$output" == *'"auc":{"estimate":0.5'* ]]
}

@test "labels are checked against rows and classes" {
  head -59 ym.csv > short.csv
  run "$SOTTO" audit --member-logits ml.csv --nonmember-logits nl.csv --member-labels short.csv --nonmember-labels yn.csv
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: short.csv: has shape (59); expected (n), n = 60 as in ml.csv" ]
  sed '7s/.*/3/' ym.csv > high.csv
  run "$SOTTO" audit --member-logits ml.csv --nonmember-logits nl.csv --member-labels high.csv --nonmember-labels yn.csv
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: high.csv: row 6 has label 3; the outputs have classes 0 to 2" ]
  sed '7s/.*/0.5/' ym.csv > half.csv
  run "$SOTTO" audit --member-logits ml.csv --nonmember-logits nl.csv --member-labels half.csv --nonmember-labels yn.csv
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: half.csv: contains fractions, or numbers that i8 cannot hold; labels must be whole numbers" ]
}

@test "logits given as probabilities are noticed" {
  run "$SOTTO" audit --member-probabilities ml.csv --nonmember-probabilities nl.csv
  [ "$status" -eq 65 ]
  [[ "$output" == "sotto: error: ml.csv: row 0 sums to "*"probabilities must be >= 0 and sum to 1 within 0.001, or their rounding (are these logits?)" ]]
}

@test "usage errors exit 64" {
  run "$SOTTO" audit
  [ "$status" -eq 64 ]
  run "$SOTTO" audit --member-logits ml.csv
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: audit: --member-logits and --nonmember-logits must be given together" ]
  run "$SOTTO" audit --scores m.csv
  [ "$status" -eq 64 ]
  run logits --fpr 2
  [ "$status" -eq 64 ]
  run logits --confidence 1
  [ "$status" -eq 64 ]
  run logits --attack lossy
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: audit: attack 'lossy' is unknown; expected loss, confidence, entropy, modified-entropy, correctness, class-confidence, class-entropy, class-modified-entropy, privacy-risk, shadow-network, population, quantile, quantile-pinball, lira, lira-pooled, lira-student, lira-offline, rmia, rmia-offline, rmia-tuned, rmia-population, lira-views, lira-offline-views, rmia-views, rmia-offline-views, base, sablayrolles, watson, reference-rank, homer, tracing, tracing-standardised, mean-likelihood, logan, gan-leaks, gan-leaks-calibrated, monte-carlo, monte-carlo-distance, token-loss, zlib, reference-ratio, reference-difference, lowercase, neighbourhood, min-k, min-k-plus, scores; did you mean 'loss'?" ]
  run logits --member-losses m.csv --nonmember-losses n.csv
  [ "$status" -eq 64 ]
}

@test "missing inputs exit 66, and nothing is left behind" {
  run "$SOTTO" audit --member-logits none.csv --nonmember-logits nl.csv -o out
  [ "$status" -eq 66 ]
  [ ! -e out ]
  run "$SOTTO" report nowhere
  [ "$status" -eq 66 ]
}

@test "an output folder that cannot be made exits 73" {
  : > file
  run logits -o file/out
  [ "$status" -eq 73 ]
}

@test "errors are JSON with --json" {
  run logits --attack lossy --json
  [ "$status" -eq 64 ]
  [[ "$output" == '{"error": "audit: attack '*'"status": "EUSAGE", "exit_code": 64}' ]]
}

@test "delta that is not small is warned about" {
  run logits --delta 0.5
  [ "$status" -eq 0 ]
  [[ "$output" == *"sotto: warning: delta 0.5 is not smaller than 1/n = 0.00667"* ]]
}

@test "report renders a folder or a file again" {
  logits -o out >/dev/null 2>&1
  cp out/report.html first.html
  rm out/report.html
  run "$SOTTO" report out
  [ "$status" -eq 0 ]
  [ "$output" = "out/report.html" ]
  cmp first.html out/report.html
  run "$SOTTO" report out/report.json -o other.html
  [ "$status" -eq 0 ]
  cmp first.html other.html
}

@test "a damaged report.json is refused and the old page stays" {
  logits -o out >/dev/null 2>&1
  cp out/report.html first.html
  head -c 500 out/report.json > cut && mv cut out/report.json
  run "$SOTTO" report out
  [ "$status" -eq 65 ]
  [[ "$output" == "sotto: error: out/report.json: report:"* ]]
  cmp first.html out/report.html
}

@test "HTML and scripts in titles are shown as text" {
  run logits -o out --title '</script><script>alert(1)</script>'
  [ "$status" -eq 0 ]
  [ "$(grep -o '<script' out/report.html | wc -l)" -eq 3 ]
  run -1 grep -q '<script>alert' out/report.html
}

@test "reference models bring LiRA and RMIA" {
  LC_ALL=C awk 'BEGIN { srand(5); for (i = 0; i < 60; i++) { for (m = 0; m < 6; m++) printf "%s%.4f", m ? "," : "", rand() + m % 2; print "" } }' > mr.csv
  LC_ALL=C awk 'BEGIN { srand(6); for (i = 0; i < 90; i++) { for (m = 0; m < 6; m++) printf "%s%.4f", m ? "," : "", rand() + m % 2; print "" } }' > nr.csv
  awk 'BEGIN { for (i = 0; i < 60; i++) print "0,1,0,1,0,1" }' > mt.csv
  awk 'BEGIN { for (i = 0; i < 90; i++) print "0,1,0,1,0,1" }' > nt.csv
  run logits --member-reference mr.csv --nonmember-reference nr.csv --member-trained mt.csv --nonmember-trained nt.csv
  [ "$status" -eq 0 ]
  [[ "$output" == *"lira-pooled"* ]]
  [[ "$output" == *"rmia-offline"* ]]
  run logits --member-reference-losses mr.csv --nonmember-reference-losses nr.csv
  [ "$status" -eq 0 ]
  [[ "$output" == *"lira-offline"* ]]
  [[ "$output" != *"lira-pooled"* ]]
  run logits --member-reference nr.csv --nonmember-reference nr.csv
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: nr.csv: has shape (90, 6); expected (n, models), n = 60 as in ml.csv" ]
  run logits --member-trained mt.csv --nonmember-trained nt.csv
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: audit: --member-trained needs --member-reference or --member-reference-losses" ]
}

@test "a shadow model's answers teach an attack network" {
  awk 'BEGIN { for (i = 0; i < 60; i++) print i % 2 }' > st.csv
  run logits --shadow-logits ml.csv --shadow-labels ym.csv --shadow-trained st.csv --attack shadow-network
  [ "$status" -eq 0 ]
  [[ "$output" == *"shadow-network"* ]]
  run logits --shadow-logits ml.csv --shadow-labels ym.csv
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: audit: --shadow-labels and --shadow-trained must be given together" ]
}

@test "gates: exit 1 when a rule holds or was not measured, and only then" {
  run logits --fail-if 'auc>0.999' --fail-if 'lint>4'
  [ "$status" -eq 0 ]
  [[ "$output" == *"gate pass: auc>0.999"* ]]
  run logits --fail-if 'auc>0.5'
  [ "$status" -eq 1 ]
  [[ "$output" == *"gate FAIL: auc>0.5 ("* ]]
  run logits --fail-if 'tpr@0.001>0.5'
  [ "$status" -eq 1 ]
  [[ "$output" == *"gate FAIL: tpr@0.001>0.5 was not measured"* ]]
  run logits --fail-if 'acu>0.5' -o out
  [ "$status" -eq 64 ]
  [ ! -e out ]
}

@test "a claim is tested, and a contradicted one exits 1" {
  run logits --claim eps=8,delta=1e-5 -o out
  [ "$status" -eq 0 ]
  [[ "$output" == *"claim of epsilon 8, delta 1e-05: not contradicted, which is no proof"* ]]
  grep -q "Claimed elsewhere, not proved here" out/report.html
  run logits --claim eps=0
  [ "$status" -eq 1 ]
  for bad in eps= delta=1e-5 eps=1,delta=2 eps=1, epsilon; do
    run logits --claim "$bad"
    [ "$status" -eq 64 ]
  done
}

@test "outputs of reference models: shapes are checked by name" {
  printf '\0\0\0\0%.0s' $(seq 1 $((2 * 150 * 3))) | tr '\0' '\0' | npy r.npy '<f4' '2, 150, 3'
  run logits --ref-logits r.npy
  [ "$status" -eq 0 ]
  [[ "$output" == *"base "* ]]
  head -c $((2 * 149 * 3 * 4)) /dev/zero | npy short.npy '<f4' '2, 149, 3'
  run logits --ref-logits short.npy
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: short.npy: has shape (2, 149, 3); expected (models, n + m, classes), n + m = 150" ]
  run logits --ref-membership r.npy
  [ "$status" -eq 64 ]
  run logits --ref-probabilities r.npy --ref-logits r.npy
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: audit: give either --ref-logits or --ref-probabilities, not both" ]
  run logits --ref-probabilities r.npy
  [ "$status" -eq 65 ]
  [[ "$output" == "sotto: error: reference outputs: model 0, row 0 sums to 0; probabilities must be >= 0 and sum to 1"*"(are these logits?)" ]]
}

@test "known non-members and feature records are accepted" {
  run logits --population-logits nl.csv --population-labels yn.csv --member-features ml.csv --nonmember-features nl.csv
  [ "$status" -eq 0 ]
  [[ "$output" == *"quantile "* ]]
  [[ "$output" == *"a classifier on the features alone"* ]]
  run logits --population-logits nl.csv
  [ "$status" -eq 64 ]
  run logits --member-features ml.csv
  [ "$status" -eq 64 ]
  run logits --member-features ml.csv --nonmember-features ml.csv
  [ "$status" -eq 65 ]
}

@test "attribute inference from arrays" {
  cat ml.csv nl.csv > f.csv
  cat ym.csv yn.csv > a.csv
  run "$SOTTO" audit --features f.csv --attribute a.csv --bootstrap 200 -o out
  [ "$status" -eq 0 ]
  [[ "$output" == *"gain in accuracy over 'commonest value'"* ]]
  grep -q 'id="attribute"' out/report.html
  cat ml.csv nl.csv | cut -d, -f1 > o.csv
  run "$SOTTO" audit --features f.csv --attribute a.csv --attribute-outputs o.csv --attribute-known o.csv --bootstrap 200 --json
  [ "$status" -eq 0 ]
  [[ "$output" == *"\"name\":\"model's answer\""*'"name":"imputed from what is known"'* ]]
  run "$SOTTO" audit --features f.csv --attribute a.csv --attribute-outputs ml.csv
  [ "$status" -eq 65 ]
  [[ "$output" == "sotto: error: ml.csv: has shape (60, 3); expected (n, ...), n = 150 as in f.csv" ]]
  run "$SOTTO" audit --attribute-known f.csv
  [ "$status" -eq 64 ]
  run "$SOTTO" audit --features f.csv --attribute ym.csv
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: ym.csv: has shape (60); expected (n), n = 150 as in f.csv" ]
  run "$SOTTO" audit --attribute a.csv
  [ "$status" -eq 64 ]
}

@test "attribute inference on records of their own, by networks of several depths" {
  run "$SOTTO" audit --features ml.csv --attribute ym.csv --attribute-labels ym.csv --attribute-test-features nl.csv \
    --attribute-test yn.csv --attribute-test-labels yn.csv --attribute-depth 4 --bootstrap 100 -o out
  [ "$status" -eq 0 ]
  [[ "$output" == *"60 records known to the attacker, 90 test records"*"commonest of the label"*"network of 4 layers"* ]]
  grep -q 'Dense layers' out/report.html
  run "$SOTTO" audit --features ml.csv --attribute ym.csv --attribute-test-features nl.csv
  [ "$status" -eq 64 ]
  run "$SOTTO" audit --features ml.csv --attribute ym.csv --attribute-test-features nl.csv --attribute-test yn.csv --attribute-outputs ml.csv
  [ "$status" -eq 64 ]
  run "$SOTTO" audit --features ml.csv --attribute ym.csv --attribute-test-features nl.csv --attribute-test ym.csv
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: ym.csv: has shape (60); expected (t), t = 90 as in nl.csv" ]
  run "$SOTTO" audit --features ml.csv --attribute ym.csv --attribute-labels ym.csv --attribute-test-features nl.csv --attribute-test yn.csv
  [ "$status" -eq 64 ]
}

# zeros FILE NUMBERS SHAPE: an .npy of zeros
zeros() { head -c $((4 * $2)) /dev/zero | npy "$1" '<f4' "$3"; }

@test "several views of each record: shapes are checked by name" {
  local classes
  classes=$(head -n 1 ml.csv | tr ',' '\n' | wc -l)
  zeros mv.npy $((60 * 2 * classes)) "60, 2, $classes"
  zeros nv.npy $((90 * 2 * classes)) "90, 2, $classes"
  zeros rv.npy $((4 * 150 * 2 * classes)) "4, 150, 2, $classes"
  zeros rl.npy $((4 * 150 * classes)) "4, 150, $classes"
  run logits --ref-logits rl.npy --member-views mv.npy --nonmember-views nv.npy --ref-views rv.npy
  [ "$status" -eq 0 ]
  [[ "$output" == *"lira-offline-views "* ]]
  [[ "$output" == *"rmia-offline-views "* ]]
  [[ "$output" != *"lira-views "* ]] # the reference models were trained on none of the records
  run logits --ref-logits rl.npy --member-views mv.npy
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: audit: --member-views, --nonmember-views and --ref-views must be given together" ]
  run logits --ref-logits rl.npy --member-views nv.npy --nonmember-views nv.npy --ref-views rv.npy
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: nv.npy: has shape (90, 2, $classes); expected (n, views, classes), n = 60 as in ml.csv" ]
  run logits --ref-logits rl.npy --member-views mv.npy --nonmember-views nv.npy --ref-views rl.npy
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: rl.npy: has shape (4, 150, $classes); expected (models, n + m, views, classes), models = 4 as in rl.npy, n + m = 150, views = 2 as in mv.npy, classes = $classes as in ml.csv" ]
  run logits --member-views mv.npy --nonmember-views nv.npy --ref-views rv.npy
  [ "$status" -eq 64 ]
  [[ "$output" == *"audit: --member-views needs --ref-logits, --ref-probabilities, --member-reference or --member-reference-losses" ]]
}

@test "row numbers are written only when asked for" {
  logits --json > o.json 2>/dev/null
  grep -q '"row":null' o.json
  run -1 grep -q '"row":[0-9]' o.json
  logits --include-indices --most-vulnerable 2 --json > o.json 2>/dev/null
  grep -q '"row":[0-9]' o.json
  logits --include-indices --exposed 2 --json 2>/dev/null | cmp - o.json # the name of earlier versions
}

@test "samples of a generator and its discriminator: membership, sets, report" {
  LC_ALL=C awk 'BEGIN { srand(5); for (i = 0; i < 60; i++) print rand() "," rand() "," rand() }' > mf.csv
  LC_ALL=C awk 'BEGIN { srand(6); for (i = 0; i < 60; i++) print rand() "," rand() "," rand() }' > nf.csv
  run "$SOTTO" audit --member-features mf.csv --nonmember-features nf.csv --generated mf.csv --reference-generated nf.csv -o out
  [ "$status" -eq 0 ]
  [[ "$output" == *"gan-leaks  "*"gan-leaks-calibrated  1.000 "*"two sets of 30 records"*"monte-carlo "*"60 records"* ]]
  grep -q 'id="generative"' out/report.html
  grep -q 'nothing here is proved' out/report.html
  grep -q '"generator":{"samples":60,"reference_samples":60,"attacker_records":0}' out/result.json
  "$SOTTO" report out/report.json -o again.html
  grep -q 'id="generative"' again.html
  run "$SOTTO" audit --member-discriminator-scores m.csv --nonmember-discriminator-scores n.csv --json
  [ "$status" -eq 0 ]
  [[ "$output" == *'"name":"logan"'*'"access":"discriminator"'* ]]
  run "$SOTTO" audit --member-features mf.csv --nonmember-features nf.csv --generated mf.csv --attack monte-carlo --set monte-carlo.quantile=0.01 --json
  [ "$status" -eq 0 ]
  [[ "$output" == *'"parameters":{"components":40.0,"quantile":0.01}'* ]]
}

@test "inputs of a generative model that do not fit are refused by name" {
  awk 'BEGIN { for (i = 0; i < 20; i++) print i "," i * i }' > two.csv
  awk 'BEGIN { for (i = 0; i < 20; i++) print i "," i * i "," 1 }' > three.csv
  run "$SOTTO" audit --generated two.csv
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: audit: --generated needs --member-features" ]
  run "$SOTTO" audit --member-features two.csv --nonmember-features two.csv --generated three.csv
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: three.csv: has shape (20, 3); expected (g, ...), features = 2 as in two.csv" ]
  run "$SOTTO" audit --member-features two.csv --nonmember-features two.csv --reference-generated two.csv
  [ "$status" -eq 64 ]
  run "$SOTTO" audit --member-discriminator-scores m.csv
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: audit: --member-discriminator-scores and --nonmember-discriminator-scores must be given together" ]
  sed '7s/.*/nan,1/' two.csv > bad.csv
  run "$SOTTO" audit --member-features two.csv --nonmember-features two.csv --generated bad.csv
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: bad.csv: 1 of 20 rows contain NaN (first: row 6, column 0); values must be finite" ]
  : > empty.csv
  run "$SOTTO" audit --member-features two.csv --nonmember-features two.csv --generated empty.csv
  [ "$status" -eq 65 ]
}

# Of 400 coins all are guessed: at 95 % the guesses of one run show 4.6, two Clopper-Pearson intervals 3.3.
@test "a claim is tested by every bound, and the winner is named" {
  seq 400 > s.csv
  for i in $(seq 400); do echo $((i > 200)); done > b.csv
  run "$SOTTO" audit --scores s.csv --membership b.csv --claim eps=4
  [ "$status" -eq 0 ]
  [[ $output == *"not contradicted"*"by Clopper-Pearson"* ]]
  run "$SOTTO" audit --scores s.csv --membership b.csv --claim eps=4 --one-run 200
  [ "$status" -ne 0 ]
  [[ $output == *"(one run)"*"CONTRADICTED"*"by one run"* ]]
  run "$SOTTO" audit --scores s.csv --membership b.csv --one-run 200 --fail-if 'epsilon>4'
  [ "$status" -ne 0 ]
}

@test "a gate on a lower end that cannot be there is an error" {
  seq 2400 > s.csv
  awk '{ print ($1 > 1200) }' s.csv > b.csv
  run "$SOTTO" audit --scores s.csv --membership b.csv --fail-if 'tpr.lower@0.001>0.5'
  [ "$status" -eq 65 ]
  [[ $output == *"[-, 100] %"* ]]
  [[ $output == *"too few non-members for a lower bound at this FPR: 1200 given, 4380 needed"* ]]
}

@test "reference signals with models as rows are recognised" {
  printf '.5\n.6\n.7\n' > l.csv
  printf '1,2,3\n4,5,6\n' > r.csv
  run "$SOTTO" audit --member-losses l.csv --nonmember-losses l.csv --member-reference r.csv --nonmember-reference r.csv
  [ "$status" -eq 65 ]
  [[ $output == *"r.csv: has shape (2, 3); expected (n, models), n = 3 as in l.csv, so transpose it"* ]]
}

@test "texts are audited by what a language model says of their tokens, and a split by date is named" {
  python3 - <<'P'
import random
random.seed(4)
n, t = 60, 12
rows = lambda gain: [[-abs(random.gauss(3, 1)) + gain for _ in range(t)] for _ in range(n)]
x, member = rows(1) + rows(0), [1] * n + [0] * n
order = list(range(2 * n)); random.shuffle(order)
put = lambda name, v: open(name, "w").write("\n".join(",".join(map(str, r)) if isinstance(r, list) else str(r) for r in v) + "\n")
put("lp.csv", [[min(v, 0) for v in x[i]] for i in order]); put("member.csv", [member[i] for i in order])
put("lengths.csv", [t - i % 3 for i in range(2 * n)]); put("bytes.csv", [40 + i % 5 for i in range(2 * n)])
put("short.csv", [1] * (n - 1)); put("toolong.csv", [13] * 2 * n)
put("words-m.csv", [[random.gauss(2, 1), random.gauss(0, 1)] for _ in range(n)]); put("words-n.csv", [[random.gauss(0, 1) for _ in range(2)] for _ in range(n)])
P
  run "$SOTTO" audit --token-logprobs lp.csv --token-lengths lengths.csv --compressed-bytes bytes.csv --membership member.csv --set min-k.k=0.1 \
    --member-features words-m.csv --nonmember-features words-n.csv
  [ "$status" -eq 0 ]
  [[ "$output" == *"token-loss"* && "$output" == *"zlib"* && "$output" == *"min-k"* && "$output" != *"min-k-plus"* ]]
  [[ "$output" == *"a classifier on the features alone separates the two sets"* ]]
  run "$SOTTO" audit --token-logprobs lp.csv
  [ "$status" -eq 64 ]
  run "$SOTTO" audit --token-logprobs lp.csv --membership short.csv
  [ "$status" -eq 65 ]
  [[ "$output" == *"short.csv: has shape (59); expected (N), N = 120 as in lp.csv"* ]]
  run "$SOTTO" audit --token-logprobs lp.csv --membership member.csv --token-lengths toolong.csv
  [ "$status" -eq 65 ]
  [[ "$output" == *"row 0 is 13; expected 1 to 12 tokens"* ]]
}

@test "canaries have an exposure among their candidates" {
  seq 0 1022 > candidates.csv
  printf '1023\n1007\n' > canaries.csv
  run "$SOTTO" audit --canary-scores canaries.csv --candidate-scores candidates.csv
  [ "$status" -eq 0 ]
  [[ "$output" == *"among 1024 candidates, at most 10.0000"* && "$output" == *"1023         1        10.0000"* && "$output" == *"1007         17       5.9125"* ]]
  run "$SOTTO" audit --canary-scores canaries.csv --candidate-scores candidates.csv --json
  [[ "$output" == *'"schema": "sotto.exposure/1", "candidates": 1024'* ]]
  echo "$output" | python3 -m json.tool > /dev/null
  run "$SOTTO" audit --canary-scores canaries.csv
  [ "$status" -eq 64 ]
  echo nan >> canaries.csv
  run "$SOTTO" audit --canary-scores canaries.csv --candidate-scores candidates.csv
  [ "$status" -eq 65 ]
}

@test "memorisation by reference models: a line, the page, and all values as an array" {
  python3 - <<'P'
import random
random.seed(2)
n, m = 30, 24
put = lambda name, v: open(name, "w").write("\n".join(",".join(map(str, r)) if isinstance(r, list) else str(r) for r in v) + "\n")
for side in "mn":
    mask = [[k % 2 if i == 3 else random.randrange(2) for k in range(m)] for i in range(n)]
    put(side + "-trained.csv", mask); put(side + "-losses.csv", [.3] * n)
    put(side + "-reference.csv", [[random.gauss(0, 1) + (4 if t else -4) * (i == 3) for t in mask[i]] for i in range(n)])
P
  audit=("$SOTTO" audit --member-losses m-losses.csv --nonmember-losses n-losses.csv --member-reference m-reference.csv --nonmember-reference
    n-reference.csv --memorisation)
  run "${audit[@]}" --member-trained m-trained.csv --nonmember-trained n-trained.csv -o out
  [ "$status" -eq 0 ]
  [[ "$output" == *"memorisation by the reference models: "*"highest 1.000"* ]]
  grep -q "Most memorised records" out/report.html
  python3 -c "import json; assert all(x['row'] is None for x in json.load(open('out/result.json'))['memorisation']['highest'])"
  [ "$(stat -c %s out/memorisation.npy)" -eq $((128 + 8 * 60)) ]
  run "${audit[@]}"
  [ "$status" -eq 64 ]
  [[ "$output" == *"memorisation needs reference models of which some were trained on a record"* ]]
}

@test "dates of the records: a baseline by date alone, and what no attack beats" {
  LC_ALL=C awk 'BEGIN { srand(4); for (i = 0; i < 60; i++) { print 2019 + i % 3 > "md.csv"; print 2021 + i % 3 > "nd.csv"; print rand() > "ml.csv"; print rand() > "nl.csv" } }'
  audit=("$SOTTO" audit --member-losses ml.csv --nonmember-losses nl.csv)
  run "${audit[@]}" --member-dates md.csv --nonmember-dates nd.csv -o out
  [ "$status" -eq 0 ]
  [[ "$output" == *"dates alone separate the two sets (AUC 0.944 "*"members are earlier)"* ]]
  [[ "$output" == *"no attack does better than dates alone"* ]]
  "$BATS_TEST_DIRNAME/../../tools/check-schema" out/result.json out/report.json
  grep -q "dates alone separate the two sets" out/report.html
  run "${audit[@]}" --member-dates md.csv
  [ "$status" -eq 64 ]
  [[ "$output" == *"--member-dates and --nonmember-dates must be given together"* ]]
  head -5 nd.csv > few.csv
  run "${audit[@]}" --member-dates md.csv --nonmember-dates few.csv
  [ "$status" -eq 65 ]
  [[ "$output" == *"few.csv: has shape (5); expected (m), m = 60 as in nl.csv"* ]]
}

@test "members and non-members that are swapped: a finding that fails gates, lint and a claim" {
  rows=$BATS_TEST_DIRNAME/../../examples/audit
  swapped() {
    "$SOTTO" audit --member-logits "$rows/nonmember-logits.npy" --nonmember-logits "$rows/member-logits.npy" \
      --member-labels "$rows/nonmember-labels.npy" --nonmember-labels "$rows/member-labels.npy" --quiet "$@"
  }
  run swapped -o a
  [ "$status" -eq 0 ]
  [[ "$output" == *"Leaks membership: the opposite guess of the "*" attack has AUC 0.6"*": are members and non-members swapped?"* ]]
  [[ "$output" == *"warning  the opposite guess of "*": are members and non-members swapped?"* ]]
  tr '\n' ' ' < a/report.html | sed 's/<[^>]*>//g' > page
  grep -q 'First check which file holds the members' page
  [ "$(grep -c 'better than guessing' page)" -eq 0 ]
  for rule in 'auc>0.6' 'advantage>0.2' 'epsilon>0' 'lint>0'; do
    run swapped --fail-if "$rule"
    [ "$status" -eq 1 ]
  done
  run swapped --claim eps=0.1
  [ "$status" -eq 1 ]
}
