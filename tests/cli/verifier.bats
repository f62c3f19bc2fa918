#!/usr/bin/env bats
# The stand-alone verifier in Python's standard library, beside 'sotto verify': both say the same of honest bundles.
# shards: 3

load ../support/verifier

convex_head() {
  "$SOTTO" head --features x.npy --labels y.npy --classes 2 --trainer convex --quiet -o unprotected.safetensors > /dev/null
  "$SOTTO" protect --head unprotected.safetensors --dataset-id convex --ledger convex.jsonl --epsilon 1 --delta 1e-5 --quiet -o convex.safetensors > /dev/null
}
# both FILE LEDGER: both verifiers call it consistent
both() {
  "$SOTTO" verify "$1" --ledger "$2" > c.txt || { cat c.txt; return 1; }
  "$python" "$verifier" "$1" --ledger "$2" > python.txt || { cat python.txt; return 1; }
  # verdict and claim; of a run, the claim is what this program derived itself
  [ "$(head -2 c.txt)" = "$(head -2 python.txt | sed 's/epsilon at most [0-9.]*, re-derived here; the certificate says /epsilon /')" ]
  # what is proved, and on which conditions, in the same words, where this program derives as much
  grep -q "NOT re-derived\|not derived again here" python.txt ||
    [ "$(grep "^  proved  \|^  conditional" c.txt)" = "$(grep "^  proved  \|^  conditional" python.txt)" ] || { cat c.txt python.txt; return 1; }
  if grep -qi verified python.txt; then cat python.txt; return 1; fi
}

@test "known answers: the vectors of RFC 8032, and one epsilon of each formula" {
  run "$python" "$verifier" --self-test
  [ "$status" -eq 0 ]
  [[ "$output" != *WRONG* ]]
  [ "${#lines[@]}" -ge 14 ]
}

@test "conditions are the sentences of the program; a failure says nothing but what failed" {
  "$python" "$cases" "$verifier" conditions "$root/tests/golden/conditions.txt"
  protect laplace --vector v.npy --mechanism laplace --epsilon 1 --l1 0.01
  sed 's/"scale": 0.01/"scale": 0.02/' laplace.npy.certificate.json > forged.certificate.json
  run "$python" "$verifier" forged.certificate.json --ledger laplace.jsonl
  [ "$status" -eq 1 ]
  [[ "${#lines[@]}" -eq 1 && "$output" == "forged.certificate.json: does NOT verify: "* ]] || { echo "$output"; false; }
}

@test "honest releases of every mechanism: re-derived, or said not to be" {
  protect laplace --vector v.npy --mechanism laplace --epsilon 1 --l1 0.01
  protect laplace2 --vector v.npy --mechanism laplace --epsilon 1 --delta 1e-5 --l2 0.01 --flat-doubt
  protect logistic --vector v.npy --mechanism logistic --epsilon 1 --delta 1e-5 --l2 0.01
  protect logistic2 --vector v.npy --mechanism logistic --epsilon 5 --delta 1e-3 --l1 0.011 --l2 0.01
  protect gaussian --vector v.npy --mechanism gaussian --epsilon 8 --delta 1e-9 --l2 0.01
  protect gaussian2 --vector v.npy --mechanism gaussian --scale 100 --delta 1e-3 --l2 0.1
  protect far --vector v.npy --mechanism gaussian --epsilon 1000 --delta 1e-5 --l2 0.01 # a shift of 40 deviations
  protect labels --vector y.npy --mechanism randomised-response --epsilon 1 --delta 1e-4 --classes 2 --l1 1
  protect whole --vector w.npy --mechanism discrete-laplace --epsilon 1 --delta 1e-4 --l1 3 --l2 2
  protect knorm --vector v.npy --mechanism knorm --epsilon 1 --delta 1e-5 --l2 0.01
  protect choice --vector v.npy --mechanism exponential --epsilon 1 --delta 1e-3 --l1 0.5
  protect flip --vector v.npy --mechanism permute-and-flip --choices 2 --epsilon 1 --delta 1e-3 --l1 0.5
  protect median --table t.npy --statistic median --range 0,1 --mechanism smooth-median --epsilon 1
  protect mean --table t.npy --statistic mean --range 0,1 --mechanism gaussian --epsilon 1 --delta 1e-5
  for name in laplace laplace2 logistic logistic2 gaussian gaussian2 far labels whole knorm choice flip median mean; do
    both "$name.npy" "$name.jsonl"
    grep -q "epsilon re-derived from mechanism" python.txt
  done
  grep -q "proved       sensitivity and account, for the stated statistic of so many records" python.txt
  both gaussian.npy gaussian.jsonl
  grep -q "conditional  only if all of this is true: One unit of privacy changes the values by no more than the sensitivity that the caller stated.$" python.txt
  protect integers --vector w.npy --mechanism discrete-gaussian --epsilon 1 --delta 1e-4 --l2 2
  both integers.npy integers.jsonl
  grep -q "epsilon: NOT re-derived" python.txt
  grep -q "proved       none" python.txt
  protect frequent --table y.npy --statistic most-frequent --mechanism propose-test-release --classes 2 --epsilon 1 --delta 1e-5
  both frequent.npy frequent.jsonl
  grep -q "epsilon: NOT re-derived" python.txt
  protect seeded --vector v.npy --mechanism laplace --epsilon 1 --l1 0.01 --insecure-noise-seed 3 2> /dev/null
  both seeded.npy seeded.jsonl
}

@test "heads: one release is re-derived, and so are sampled steps" {
  convex_head
  both convex.safetensors convex.jsonl
  grep -q "epsilon re-derived" python.txt
  head_by covariance
  both covariance.safetensors covariance.jsonl
  head_by objective
  both objective.safetensors objective.jsonl
  grep -q "epsilon re-derived" python.txt
  head_by dp-gd --steps 20
  both dp-gd.safetensors dp-gd.jsonl
  head_by dp-sgd --batch 8 --epochs 2
  both dp-sgd.safetensors dp-sgd.jsonl
  grep -q "claim        epsilon at most 0.100[0-9]*, re-derived here; the certificate says 0.1 at delta" python.txt
  grep -q "proved       sensitivity and account, for training by the stated recipe" python.txt
  [ "$(grep -o "epsilon re-derived from rate, noise and 6 steps" python.txt | wc -l)" = 2 ] # both adjacencies
  head_by dp-sgd --batch 8 --epochs 1 --noise logistic --ledger-move
  both dp-sgd.safetensors dp-sgd.jsonl
  grep -q "the account of sampled steps: NOT re-derived, as its noise is not Gaussian, and its gradients are not clipped by L1" python.txt
  grep -q "proved       none" python.txt
}

@test "convex heads: the sensitivity follows from recipe and records" {
  made() { # NAME TRAINER OPTION...; the variable `person` has options of the release
    "$SOTTO" head --features x.npy --labels y.npy --classes 2 --trainer "${@:2}" --quiet -o unprotected.safetensors > /dev/null
    "$SOTTO" protect --head unprotected.safetensors --dataset-id convex --ledger "$1.jsonl" --ledger-move --epsilon 1 --delta 1e-5 --quiet "${person[@]}" -o "$1.safetensors" > /dev/null
  }
  person=()
  export XDG_DATA_HOME=$PWD/convex
  made steps convex --steps 20 --clip 3 --bias 2 --lambda 0.1
  made batches convex-sgd --epochs 2 --batch 8
  made stop convex-lbfgs
  person=(--rows-per-person 3)
  export XDG_DATA_HOME=$PWD/persons
  made person convex
  "$python" "$cases" "$verifier" proofs steps.safetensors batches.safetensors stop.safetensors person.safetensors
  "$python" "$verifier" stop.safetensors > python.txt
  grep -q "proved       sensitivity and account, for training by the stated recipe" python.txt
  grep -q "conditional  nothing" python.txt
}

@test "totals of a ledger: never below those of sotto, none with a seeded entry, and the version is this tree's" {
  for epsilon in 0.5 0.25; do protect many --vector v.npy --mechanism laplace --epsilon $epsilon --l1 0.01; done
  protect many --vector v.npy --mechanism gaussian --epsilon 1 --delta 1e-5 --l2 0.01
  "$SOTTO" ledger show many.jsonl --json > show.json
  "$python" "$verifier" --total many.jsonl > total.txt
  "$python" -c 'import json, re
mine = float(re.search("epsilon at most ([0-9.]+) at delta 1e-05", open("total.txt").read())[1])
theirs = json.load(open("show.json"))["total"]
assert theirs - 1e-5 <= mine <= 1.005 * theirs, (theirs, mine)'
  "$python" "$verifier" many.npy --ledger many.jsonl > python.txt
  grep -q "^  together     epsilon at most 1.6[0-9]* at delta 1e-05 (replace-one), proved and conditional together: composed here" python.txt
  protect many --vector v.npy --mechanism laplace --epsilon 1 --l1 0.01 --insecure-noise-seed 3 2> /dev/null
  "$python" "$verifier" --total many.jsonl > total.txt
  grep -q "together none: an entry used seeded noise" total.txt
  refused 64 "or --total LEDGER" --total many.jsonl many.npy
  sed -i '1s/"delta"/"dolta"/' many.jsonl
  refused 1 "its hash does not match" --total many.jsonl
  grep -q "^NEWEST = ($(sed 's/\./, /g' "$root/VERSION")) " "$verifier"
}

@test "early certificates, which count lines of the ledger: both verifiers accept them, and say that no line names their files" {
  for name in exact fast fixed lattice; do
    both "$root/tests/golden/early/$name.json" "$root/tests/golden/early/$name.jsonl"
    grep -q "which file came out of that charge, which an entry of an early version does not tell" c.txt
    grep -q "which file came out of that charge, which an entry of an early version does not tell" python.txt
  done
}

@test "exit codes: usage, no certificate, a missing file, a cut ledger" {
  protect laplace --vector v.npy --mechanism laplace --epsilon 1 --l1 0.01
  refused 64 "expected one FILE"
  refused 64 "unrecognized arguments: --no" laplace.npy --no
  refused 66 "nothing.npy.certificate.json" nothing.npy
  refused 66 "nothing.jsonl" laplace.npy --ledger nothing.jsonl
  refused 66 "nothing.npy" laplace.npy.certificate.json --released nothing.npy
  refused 66 "nothing.key" laplace.npy --trust nothing.key
  for text in '[1]' '{"schema": "sotto.certificate/4"}' '{"schema": NaN}' '{"a": 1, "a": 2}' '{' ''; do
    printf '%s' "$text" > no.json
    refused 65 "no.json" no.json || refused 65 "schema is" no.json
  done
  sed -i '$ s/.$//' laplace.jsonl
  refused 1 "ledger chain" laplace.npy --ledger laplace.jsonl
  [[ "$output" != *consistent* ]]
}

@test "a reader who wants no more, as head does: no traceback, and exit code 74" {
  protect laplace --vector v.npy --mechanism laplace --epsilon 1 --l1 0.01
  for asked in laplace.npy "--total laplace.jsonl" --self-test; do
    # shellcheck disable=SC2086
    { sleep 0.2; "$python" "$verifier" $asked 2> said; } | true
    [ "${PIPESTATUS[0]}" -eq 74 ]
    [ ! -s said ] || { cat said; false; }
  done
}

@test "pure budgets of any decimal" {
  for budget in 0.3 0.7 2.997; do
    "$SOTTO" ledger init --dataset-id pure$budget --budget $budget --ledger pure$budget.jsonl > /dev/null
    "$SOTTO" protect --vector v.npy --dataset-id pure$budget --mechanism laplace --epsilon 0.1 --l1 0.01 --ledger pure$budget.jsonl -o pure.npy --quiet > /dev/null
    "$python" "$verifier" pure.npy --ledger pure$budget.jsonl
  done
}

@test "no printed epsilon, rate or mu is below its upper end; statements of early certificates still verify" {
  for scale in 0.0523 0.0811 0.1234 0.1777; do
    "$SOTTO" protect --vector v.npy --dataset-id toy --mechanism gaussian --scale $scale --l2 0.04 --delta 1e-5 --ledger up.jsonl -o up.npy --quiet > /dev/null
    "$SOTTO" certificate up.npy > page
    "$SOTTO" verify up.npy > claims
    "$python" "$verifier" up.npy >> claims
    "$python" - up.npy.certificate.json page claims <<'END'
import json, re, sys
c, (page, claims) = json.load(open(sys.argv[1])), [" ".join(open(name).read().split()) for name in sys.argv[2:]]
epsilon, mu = c["guarantee"]["conditional"]["epsilon"]["upper"], 0.04 / c["scale"]
texts = re.findall("epsilon ([0-9.]+) at", c["guarantee"]["statement"]) + re.findall("Epsilon ([0-9.]+) ", page) + re.findall("claim epsilon ([0-9.]+)", claims)
assert len(texts) == 4 and all(epsilon <= float(text) < epsilon * (1 + 2e-5) for text in texts), (epsilon, texts)
assert mu * (1 - 1e-12) <= float(re.search(r"mu \(Gaussian DP\) ([0-9.]+)", page)[1]) < mu * (1 + 2e-5)
END
  done
  restate() { # [DIGITS]: conditions as nouns, and epsilon to so many digits, to nearest
    "$python" - names up.npy.certificate.json early.certificate.json "$@" <<'END'
import json, re, sys
c = json.load(open(sys.argv[2]))
claim = c["guarantee"]["conditional"]
said = c["guarantee"]["statement"].split("; only if this is true: ")[0].replace("none; conditional: ", "none; conditional on %s: " % claim["condition"])
if len(sys.argv) > 4:
    said = re.sub("epsilon [0-9.]+ at", "epsilon %.*g at" % (int(sys.argv[4]), claim["epsilon"]["upper"]), said)
c["guarantee"]["statement"] = said
json.dump(c, open(sys.argv[3], "w"), indent=1)
END
  }
  for digits in "" 6; do
    restate $digits
    "$SOTTO" verify early.certificate.json
    "$python" "$verifier" early.certificate.json
  done
  restate 5
  run "$SOTTO" verify early.certificate.json
  [ "$status" -eq 1 ]
  run "$python" "$verifier" early.certificate.json
  [ "$status" -eq 1 ]
}
