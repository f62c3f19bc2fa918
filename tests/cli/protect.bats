#!/usr/bin/env bats
# shards: 2
# protect and account: files, ledger, certificate, every message, exit codes, nothing half-written.

bats_require_minimum_version 1.5.0
load ../support/npy

setup_file() {
  cd "$BATS_FILE_TMPDIR" || exit 1
  printf '\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40' | npy v.npy '<f4' '4,'   # 1 2 3 4
  printf '\0\0\xc0\x7f\0\0\0\x40' | npy nan.npy '<f4' '2,'
  printf '\1\2\3\4' | npy whole.npy '|u1' '4,'
  for i in 1 2 3 4 5 6; do printf '\0\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\x80\x3f\0\0\0\0\0\0\0\x40'; done | head -c 96 | npy X.npy '<f4' '12, 2'
  printf '\0\1\0\1\0\1\0\1\0\1\0\1' | npy y.npy '|u1' '12,'
}
setup() {
  dir=$BATS_TEST_TMPDIR
  cd "$dir" || exit 1
  export XDG_DATA_HOME=$dir/data
  cp "$BATS_FILE_TMPDIR"/*.npy .
}

protect() { "$SOTTO" protect --vector v.npy --dataset-id toy -o out.npy "$@"; }

# refused CODE TEXT COMMAND...: that exit code, one line with that text, no output, no certificate
refused() {
  local code=$1 text=$2
  shift 2
  run "$@"
  [ "$status" -eq "$code" ] || { echo "exit $status: $output"; return 1; }
  [[ "$output" == *"$text"* ]] || { echo "$output"; return 1; }
  [ "${#lines[@]}" -le 2 ]
  [ ! -e out.npy ]
  [ ! -e out.npy.certificate.json ]
  [ -z "$(ls | grep tmp || :)" ]
}
differs() { if cmp -s "$1" "$2"; then echo "$1 and $2 are equal"; return 1; fi; }
absent() { if grep -aq "$1" "$2"; then echo "'$1' is in $2"; return 1; fi; }

@test "a release: protected file, certificate, ledger, and all of it verifies" {
  run protect --mechanism laplace --epsilon 1 --l1 0.01
  [ "$status" -eq 0 ]
  [[ "$output" == *"proved: none; conditional: epsilon 1 at delta 0 "*"; only if this is true: One unit of privacy changes the values by no more than the sensitivity that the caller stated."* ]]
  [ "$(stat -c %s out.npy)" -eq "$(stat -c %s v.npy)" ]
  differs out.npy v.npy
  ledger=$XDG_DATA_HOME/sotto/ledger/toy.jsonl
  [ "$(wc -l < "$ledger")" -eq 2 ] # the charge, and the line of the file that came out of it
  run "$SOTTO" account --verify out.npy.certificate.json --ledger "$ledger"
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = "out.npy.certificate.json: consistent, NOT signed" ]
  verb=$("$SOTTO" verify out.npy --ledger "$ledger")
  [ "${verb#*$'\n'}" = "${output#*$'\n'}" ]
}

@test "verify: what is claimed, and what was and was not checked; never the word verified" {
  protect --mechanism laplace --epsilon 1 --l1 0.01
  run "$SOTTO" verify out.npy
  [ "$status" -eq 0 ]
  [[ "$output" != *verified* ]]
  for text in "claim        epsilon 1 at delta 0, replace-one adjacency (laplace, scale 0.01)" "proved       none" \
              "conditional  only if all of this is true: One unit of privacy changes the values by no more than the sensitivity that the caller stated." "measured     nothing" \
              "checked      arithmetic re-derived; released file's hash matches" "the ledger, as none was given: whether the release was charged, and in which ledger, is open" \
              "the sensitivity, which was stated by the caller" "signature    none"; do
    [[ "$output" == *"$text"* ]] || { echo "missing '$text' in $output"; return 1; }
  done
  mv out.npy elsewhere.npy
  run "$SOTTO" verify out.npy.certificate.json
  [[ "$output" == *"the released file, as none was given"* ]]
  run "$SOTTO" verify out.npy.certificate.json --released elsewhere.npy --json
  [ "$status" -eq 0 ]
  [[ "$output" == *'"schema": "sotto.verify/1"'*'"guarantee": "conditional"'*'"signed": false'* ]]
  run "$SOTTO" verify v.npy
  [ "$status" -eq 66 ]
  printf x >> elsewhere.npy
  run "$SOTTO" verify out.npy.certificate.json --released elsewhere.npy
  [ "$status" -eq 1 ]
  [[ "$output" == *"out.npy.certificate.json: does NOT verify: released file: "* ]]
}

@test "the certificate and the protected file hold no hash of the private input" {
  protect --scale 1 --l1 1
  absent "$(sha256sum v.npy | cut -d' ' -f1)" out.npy.certificate.json
  grep -q "$(sha256sum v.npy | cut -d' ' -f1)" "$XDG_DATA_HOME/sotto/ledger/toy.jsonl"
  grep -q "$(sha256sum out.npy | cut -d' ' -f1)" out.npy.certificate.json
}

@test "a tampered certificate, output or ledger does not verify" {
  protect --scale 2 --l1 1 --delta 1e-5
  cp out.npy.certificate.json good.json
  sed 's/"scale": 2.0/"scale": 3.0/' good.json > out.npy.certificate.json
  run "$SOTTO" account --verify out.npy.certificate.json
  [ "$status" -eq 1 ]
  [[ "$output" == *"does not verify: scale: 3 and 0x1p+1"* ]]
  sed 's/"proved": "none"/"proved": {"epsilon": {"lower": 0, "upper": 0.1}, "delta": 0, "accountant": "pure", "pure_epsilon": 0.1, "zcdp_rho": 0.1, "adjacency": "replace-one"}/' good.json > out.npy.certificate.json
  run "$SOTTO" account --verify out.npy.certificate.json
  [ "$status" -eq 1 ]
  [[ "$output" == *"does not verify: wording"* ]]
  cp good.json out.npy.certificate.json
  printf x >> out.npy
  run "$SOTTO" account --verify out.npy.certificate.json
  [ "$status" -eq 1 ]
  [[ "$output" == *"does not verify: released file"* ]]
  run bash -c '"$SOTTO" account --verify out.npy.certificate.json --json 2>/dev/null | grep -c "\"ok\": false"'
  [ "$output" = 1 ]
  echo '{"schema": "other"}' > c.json
  run "$SOTTO" account --verify c.json
  [ "$status" -eq 65 ]
  [[ "$output" == *"c.json: schema is 'other'; expected sotto.certificate/3 or an earlier version"* ]]
}

@test "seeded noise is repeatable and stamped everywhere" {
  protect --scale 1 --l1 1 --insecure-noise-seed 7
  cp out.npy first.npy
  protect --scale 1 --l1 1 --insecure-noise-seed 7
  cmp out.npy first.npy
  grep -q '"statement": "noise was seeded: no privacy guarantee"' out.npy.certificate.json
  grep -q '"randomness": "noise was seeded: no privacy guarantee"' out.npy.certificate.json
  grep -q 'noise was seeded: no privacy guarantee' "$XDG_DATA_HOME/sotto/ledger/toy.jsonl"
  run "$SOTTO" account --ledger "$XDG_DATA_HOME/sotto/ledger/toy.jsonl"
  [[ "$output" == *'"proved": "none"'*'"seeded_releases": 2'* ]]
  protect --scale 1 --l1 1
  differs out.npy first.npy
}

@test "budget: exit 77, nothing written" {
  protect --mechanism laplace --epsilon 1 --l1 1 --budget-epsilon 1.5
  rm out.npy out.npy.certificate.json
  refused 77 "the privacy budget (epsilon 1.5, delta 0) would be exceeded: spent 1, with this release 2" protect --mechanism laplace --epsilon 1 --l1 1
  refused 77 "expected a budget that is not larger (got 9, 0)" protect --mechanism laplace --epsilon 0.1 --l1 1 --budget-epsilon 9
}

@test "wrong values: one line each, no ledger" {
  refused 65 "epsilon must be greater than 0 (got -1)" protect --epsilon -1 --l1 1
  refused 65 "scale must be > 0 (got 0)" protect --scale 0 --l1 1
  refused 65 "scale must be greater than 0 and at most 1e+100 (got inf)" protect --scale inf --l1 1
  refused 65 "scale must be at least 1e-100 and at most 1e+100 (got 4.94066e-324)" protect --scale 5e-324 --l1 1
  refused 65 "delta must be at least 0 and below 1 (got 1)" protect --scale 1 --l1 1 --delta 1
  refused 65 "sensitivity l2 must be greater than 0 (got -3)" protect --scale 1 --l2 -3
  refused 65 "mechanism 'cauchy' is unknown; expected logistic, laplace, gaussian" protect --scale 1 --l1 1 --mechanism cauchy
  refused 65 "one-sided exponential noise has no finite epsilon, as a shift D leaves outputs that only one input can produce (delta is at least 1 - exp(-D / scale)); expected laplace, its symmetric form" protect --scale 1 --l1 1 --mechanism exponential-noise
  refused 65 "mechanism 'gaussian' gives no pure epsilon; give a delta > 0" protect --epsilon 1 --l2 1 --mechanism gaussian
  refused 65 "mechanism 'gaussian' gives no pure epsilon; give a delta > 0" protect --scale 2 --l2 1 --delta 0 --mechanism gaussian
  refused 65 "mechanism 'gaussian' gives no pure epsilon; give a delta > 0" protect --scale 2 --l2 1 --delta 0 --mechanism gaussian --insecure-noise-seed 3
  [ ! -e out.npy ]
  [ ! -e "$XDG_DATA_HOME" ]
}

@test "noise for a risk: what is printed, charged, and refused" {
  run --separate-stderr "$SOTTO" protect --vector v.npy --dataset-id toy -o out.npy --mechanism laplace --l1 1 --max-tpr 0.02@0.01
  [ "$status" -eq 0 ]
  [[ "$output" == *"laplace noise of scale 1.4427"* ]]                   # 1 / ln 2
  [[ "$output" == *"epsilon 0.6931"*" at delta 0"* ]]
  [[ "${lines[-1]}" == "any test of membership: true-positive rate at most 0.02 at false-positive rate 0.01, if what epsilon rests on holds: the sensitivity stated by the caller" ]]
  run --separate-stderr "$SOTTO" protect --vector v.npy --dataset-id toy -o out.npy --mechanism gaussian --l2 1 --delta 1e-5 --max-advantage 0.1
  [ "$status" -eq 0 ]
  [[ "${lines[-1]}" == "any test of membership: true-positive rate at most 0.1 above the false-positive rate"* ]]
  run --separate-stderr "$SOTTO" protect --records X.npy --clip 1 --dataset-id rows -o out.npy --max-tpr 0.02@0.01
  [ "$status" -eq 0 ]
  [[ "$output" == *"true-positive rate at most 0.02 at false-positive rate 0.01"* ]]
  rm -r out.npy* data
  refused 64 "give exactly one of --scale, --epsilon, --max-tpr and --max-advantage" protect --l1 1 --scale 1 --max-tpr 0.02@0.01
  refused 64 "give exactly one of --scale, --epsilon, --max-tpr and --max-advantage" protect --l1 1 --max-advantage 0.1 --epsilon 1
  refused 65 "max_tpr 0.01@0.02 is out of range; expected rates in (0, 1), the true-positive rate above the false-positive rate" protect --l1 1 --max-tpr 0.01@0.02
  refused 65 "max_tpr '0.02' is not a pair of rates; expected TPR@FPR such as 0.02@0.01" protect --l1 1 --max-tpr 0.02
  refused 65 "max_advantage is 1; expected a number in (0, 1)" protect --l1 1 --max-advantage 1
  [ ! -e "$XDG_DATA_HOME" ]
}

@test "wrong combinations are usage errors" {
  refused 64 "give exactly one of --scale, --epsilon, --max-tpr and --max-advantage" protect --l1 1
  refused 64 "give exactly one of --scale, --epsilon, --max-tpr and --max-advantage" protect --l1 1 --scale 1 --epsilon 1
  refused 64 "protect: the sensitivity is missing; give --sensitivity FILE, --l1, --l2 or both norms (it can be omitted only for a head by a convex trainer)" protect --scale 1
  refused 64 "v.npy has no identity (made elsewhere, opened by its path, or imported by version 1)" \
    "$SOTTO" protect --vector v.npy --scale 1 --l1 1 -o out.npy
  refused 64 "v.npy and out.safetensors are of different formats" \
    "$SOTTO" protect --vector v.npy --scale 1 --l1 1 --dataset-id toy -o out.safetensors
  refused 64 "--output is missing" "$SOTTO" protect --vector v.npy --scale 1 --l1 1
}

@test "wrong inputs" {
  refused 65 "value 0 of 2 is NaN; all must be finite" "$SOTTO" protect --vector nan.npy --dataset-id toy --scale 1 --l1 1 -o out.npy
  refused 65 "tensor 'vector' has dtype u1; expected floating-point tensors" \
    "$SOTTO" protect --vector whole.npy --dataset-id toy --scale 1 --l1 1 -o out.npy
  refused 66 "missing.npy" "$SOTTO" protect --vector missing.npy --dataset-id toy --scale 1 --l1 1 -o out.npy
  echo garbage > "$dir/l.jsonl"
  refused 65 "line 1: has no hash at its end" protect --scale 1 --l1 1 --ledger l.jsonl
}

@test "a head keeps its tensors and its recipe, loses the hash of its data, and still predicts" {
  "$SOTTO" head --features X.npy --labels y.npy -o h.safetensors
  "$SOTTO" sensitivity --head h.safetensors --features X.npy --labels y.npy --pairs 3 -o s.json
  run "$SOTTO" protect --head h.safetensors --scale 0.1 --delta 1e-2 --sensitivity s.json --records 12 -o p.safetensors --dataset-id toy
  [ "$status" -eq 0 ]
  [[ "$output" == *"proved: none; conditional: epsilon "*"; only if this is true: One unit of privacy changes the values by no more than the largest change that was seen in sampled pairs."* ]]
  grep -aq '"recipe_hash"' p.safetensors
  absent 'fingerprint' p.safetensors
  "$SOTTO" predict --head p.safetensors --features X.npy -o q.npy
  "$SOTTO" account --verify p.safetensors.certificate.json
  run "$SOTTO" protect --head h.safetensors --scale 0.1 --delta 0.5 --sensitivity s.json --records 12 -o p.safetensors --dataset-id toy
  [[ "$output" == *"warning: delta 0.5 is too large; expected less than 1/n = 0.0833333"* ]]
}

@test "a sensitivity of another head is refused" {
  "$SOTTO" head --features X.npy --labels y.npy -o h.safetensors
  "$SOTTO" sensitivity --head h.safetensors --features X.npy --labels y.npy --pairs 2 -o sensitivity.json
  "$SOTTO" head --features X.npy --labels y.npy --epochs 2 -o other.safetensors
  run "$SOTTO" protect --head other.safetensors --scale 0.1 --sensitivity sensitivity.json -o p.safetensors --dataset-id toy
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: protect: sensitivity.json was measured for another head (recipe hash differs); measure the sensitivity of this head" ]
  [ ! -e p.safetensors ]
  [ ! -e "$XDG_DATA_HOME" ]
}

@test "account: the JSON contract" {
  run "$SOTTO" account --mechanism logistic --scale 1 --l1 1 --delta 1e-5 --compose 10 --json
  [ "$status" -eq 0 ]
  for key in '"schema": "sotto.account/1"' '"lower": 7.62558659' '"upper": 7.62558659' '"delta": ' '"accountant": "exact composition by l1"' \
             '"pure_epsilon": 10.0' '"zcdp_rho": 1.66666' '"adjacency": "replace-one"' '"compose": 10'; do
    [[ "$output" == *"$key"* ]] || { echo "missing $key in $output"; return 1; }
  done
  run "$SOTTO" account --mechanism gaussian --epsilon 1 --l2 1 --delta 1e-5 --json
  [[ "$output" == *'"scale": 3.73063163481'*'"pure_epsilon": null'* ]]
  run "$SOTTO" account --mechanism gaussian --noise-multiplier 1.1 --sample-rate 0.01 --steps 10000 --delta 1e-5 --json
  [[ "$output" == *'"noise_multiplier": 1.1'*'"clipping": "l2"'*'"lower": 5.1925'*'"upper": 5.1926'*'"adjacency": "add-remove"'* ]]
  run "$SOTTO" account --mechanism gaussian --scale 1 --l2 1
  [ "$status" -eq 65 ]
  [[ "$output" == *"mechanism 'gaussian' gives no pure epsilon; give a delta > 0"* ]]
}

@test "account: messages" {
  run "$SOTTO" account --scale 1 --l1 1
  [ "$status" -eq 64 ]
  [[ "$output" == *"--mechanism is missing"* ]]
  run "$SOTTO" account --mechanism logistic --l1 1
  [ "$status" -eq 64 ]
  [[ "$output" == *"give exactly one of --scale and --epsilon"* ]]
  run "$SOTTO" account --mechanism logistic --scale 1
  [ "$status" -eq 64 ]
  [[ "$output" == *"give --l1, --l2 or both"* ]]
  run "$SOTTO" account --mechanism logistic --scale 1 --l1 1 --compose 0
  [ "$status" -eq 65 ]
  [[ "$output" == *"compose must be at least 1 (got 0)"* ]]
  run "$SOTTO" account --mechanism laplace --noise-multiplier 1 --sample-rate 0.1 --steps 5 --delta 1e-5
  [ "$status" -eq 69 ]
  [[ "$output" == *"gradients clipped by L2"*"expected gaussian or logistic, or gradients clipped by L1"* ]]
}

@test "account: the clipping norm of sampled training" {
  training=(account --noise-multiplier 1 --sample-rate 0.01 --steps 1000 --delta 1e-5)
  run "$SOTTO" "${training[@]}" --mechanism logistic --clipping l1 --json
  [ "$status" -eq 0 ]
  [[ "$output" == *'"clipping": "l1"'*'"upper": 0.7006'*'"pure_epsilon": 17.0'* ]]   # dp.md (g): 0.700614
  run "$SOTTO" "${training[@]}" --mechanism laplace --clipping l1
  [ "$status" -eq 0 ]
  [[ "$output" == *"gradients clipped by l1"*"privacy-loss distribution"* ]]
  run "$SOTTO" "${training[@]}" --mechanism logistic
  [[ "$output" == *"gradients clipped by l2"*"(renyi)"* ]]
  [[ "$output" != *"pure epsilon"* ]]
  run "$SOTTO" "${training[@]}" --mechanism logistic --clipping linf
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: --clipping must be l2 or l1 (got 'linf')" ]
  run "$SOTTO" account --mechanism laplace --scale 1 --l1 1 --clipping l1
  [ "$status" -eq 64 ]
  [[ "$output" == *"account: --clipping needs --sample-rate and --steps"* ]]
}

@test "account: sampled training when a record is replaced" {
  training=(account --mechanism gaussian --noise-multiplier 1.1 --sample-rate 0.01 --steps 1000 --delta 1e-5 --json)
  run "$SOTTO" "${training[@]}" --adjacency replace-one
  [ "$status" -eq 0 ]
  [[ "$output" == *'"lower": 2.4777'*'"upper": 2.4778'*'"adjacency": "replace-one"'* ]]
  run "$SOTTO" "${training[@]}" --adjacency add-remove
  [[ "$output" == *'"upper": 1.5153'*'"adjacency": "add-remove"'* ]]
  run "$SOTTO" "${training[@]}" --adjacency both
  [ "$status" -eq 64 ]
  run "$SOTTO" "${training[@]}" --adjacency replace-one --certified
  [ "$status" -eq 0 ]
  [[ "$output" == *'"lower": 2.4777'*'"upper": 2.4778'*'"accountant": "pld, balls"'* ]]
  run "$SOTTO" "${training[@]/gaussian/logistic}" --adjacency replace-one --certified
  [ "$status" -eq 69 ]
}

@test "account --choose: every mechanism for one target, least noise first" {
  run "$SOTTO" account --choose --epsilon 1 --delta 1e-5 --l1 1 --compose 10
  [ "$status" -eq 0 ]
  [[ "${lines[1]}" == logistic*11.49538* ]]
  run "$SOTTO" account --choose --epsilon 1 --delta 1e-5 --l1 1 --json
  [[ "$output" == '{"schema": "sotto.choice/1", "winner": "laplace", "accounts": [{'*']}' ]]
  run "$SOTTO" account --choose --epsilon 1 --mechanism laplace --l1 1
  [ "$status" -eq 64 ]
}

@test "mechanisms by name: whole numbers, K-norm, a choice, labels, flat doubt" {
  printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }" > whole8.npy
  printf '\x05\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00' >> whole8.npy
  for mechanism in "discrete-laplace --l1 1" "discrete-gaussian --l2 1" "knorm --l2 1" "exponential --l1 1" "logistic --flat-doubt --l1 1" "discrete-laplace --flat-doubt --l1 1"; do
    input=v.npy
    case "$mechanism" in discrete*) input=whole8.npy ;; esac
    "$SOTTO" protect --vector $input --mechanism $mechanism --epsilon 1 --delta 1e-5 --dataset-id toy -o o.npy
    "$SOTTO" account --verify o.npy.certificate.json --ledger "$XDG_DATA_HOME/sotto/ledger/toy.jsonl"
  done
  "$SOTTO" protect --vector whole8.npy --mechanism randomised-response --classes 6 --epsilon 1 --l1 1 --dataset-id toy -o o.npy
  "$SOTTO" account --verify o.npy.certificate.json
  refused 64 "--constant-time was removed: it was not exact; --flat-doubt makes the running time tell next to nothing about the noise, which stays exact" protect --constant-time --epsilon 1 --l1 1
  refused 65 "mechanism 'knorm' has no flat doubt" protect --mechanism knorm --flat-doubt --epsilon 1 --l2 1
  refused 65 "is for comparing only" protect --mechanism gaussian-classical --epsilon 1 --delta 1e-5 --l2 1
  # a label that is no class counts as class 0: a refusal would tell of a record
  "$SOTTO" protect --vector whole8.npy --mechanism randomised-response --classes 2 --epsilon 1 --l1 1 --dataset-id toy -o q.npy
  [ -z "$(tail -c +129 q.npy | od -An -v -t d8 -w8 | grep -v '^ *[01]$')" ]
}

@test "the classical Gaussian formula: beside the exact one, warned, refused" {
  run "$SOTTO" account --mechanism gaussian-classical --epsilon 0.5 --l2 1 --delta 1e-5
  [ "$status" -eq 0 ]
  [[ "$output" == *"classical formula"*"analytic gaussian"*"classical sigma 9.68961"*"analytic sigma 7.0318266"*"fails from epsilon 8.4198 on"* ]]
  [[ "$output" != *warning* ]]
  run "$SOTTO" account --mechanism gaussian-classical --epsilon 2 --l2 1 --delta 1e-5
  [[ "$output" == *"warning: account: the published proof of the classical formula covers epsilon < 1 only"* ]]
  run "$SOTTO" account --mechanism gaussian-classical --epsilon 8.42 --l2 1 --delta 1e-5
  [ "$status" -eq 65 ]
  [[ "$output" == *"is not private from epsilon 8.4198 on (got 8.42)"* ]]
  run "$SOTTO" account --mechanism gaussian-classical --scale 0.5 --l2 1 --delta 1e-5
  [ "$status" -eq 65 ]
  run "$SOTTO" account --mechanism one-sided-exponential --scale 1 --l1 1
  [ "$status" -eq 65 ]
  [[ "$output" == *"one-sided exponential noise has no finite epsilon, as a shift D leaves outputs that only one input can produce (delta is at least 1 - exp(-D / scale)); expected laplace, its symmetric form"* ]]
}

@test "every mechanism refuses senseless numbers in one line" {
  for mechanism in logistic laplace gaussian gaussian-classical discrete-laplace discrete-gaussian knorm exponential randomised-response; do
    for bad in "--scale -1" "--scale 0" "--scale inf" "--scale 1e-320" "--scale 1e300" "--scale 1 --delta -1" "--scale 1 --delta 1" \
               "--scale 1 --delta inf" "--epsilon 0" "--epsilon -3" "--epsilon inf" "--epsilon 1e-310" "--scale 1 --compose 0"; do
      code=0 text=$("$SOTTO" account --mechanism $mechanism --l1 1 --l2 1 --dimension 2 $bad 2>&1) || code=$? # cheaper than run
      [[ "$code" -eq 65 && -n "$text" && "$text" != *$'\n'* ]] || { echo "$mechanism $bad: $code $text"; return 1; }
    done
    run "$SOTTO" account --mechanism $mechanism --l1 nan --l2 1 --scale 1 --dimension 2
    [ "$status" -eq 64 ]
    [[ "$output" == *"--l1: 'nan' is not a number"* ]]
    run "$SOTTO" account --mechanism $mechanism --l1 -2 --scale 1 --dimension 2
    [ "$status" -eq 65 ]
    [ "${#lines[@]}" -eq 1 ]
  done
}

@test "protect --value-step: the noise is whole multiples of it, and the certificate says so" {
  printf '\0\0\0\x3f\0\0\x80\x3f\0\0\xc0\x3f\0\0\0\x40' | npy halves.npy '<f4' '4,'   # 0.5 1 1.5 2
  refused 65 "value 0" "$SOTTO" protect --vector halves.npy --mechanism discrete-laplace --scale 4 --l1 1 --dataset-id toy -o out.npy
  "$SOTTO" protect --vector halves.npy --mechanism discrete-laplace --scale 4 --l1 1 --value-step 0.5 --dataset-id toy -o out.npy
  grep -q '"lattice_exponent": -1' out.npy.certificate.json
  "$SOTTO" account --verify out.npy.certificate.json --ledger "$XDG_DATA_HOME/sotto/ledger/toy.jsonl"
}

@test "account --choose: the certificate of each, whole numbers, K-norm noise" {
  run "$SOTTO" account --choose --epsilon 1 --delta 1e-5 --l1 1 --value-step 1 --dimension 1
  [ "$status" -eq 0 ]
  [[ "$output" == *discrete-laplace*"pure + zCDP"* && "$output" == *discrete-gaussian*zCDP* && "$output" == *knorm* ]]
  [ "${lines[-1]}" = "smallest noise: discrete-laplace" ]
}

@test "--read-from-data: what would be proved is conditional, in account, ledger and certificate" {
  "$SOTTO" head --features X.npy --labels y.npy --classes 2 --trainer convex --steps 5 -o c.safetensors
  proved=(protect --head c.safetensors --epsilon 1 --delta 1e-5 --dataset-id toy -o p.safetensors)
  run "$SOTTO" "${proved[@]}"
  [[ "$output" == *"(1, 1e-05)-differentially private"* && "$output" != *conditional* ]] || { echo "$output"; return 1; }
  run "$SOTTO" "${proved[@]}" --read-from-data clip --read-from-data lambda
  [ "$status" -eq 0 ]
  [[ "$output" == *"; only if this is true: The choice of clip tells nothing about the records, although it was read from the private data. The choice of lambda tells nothing"* ]] ||
    { echo "$output"; return 1; }
  grep -q '"proved": "none"' p.safetensors.certificate.json
  [ "$(grep -c 'clip, which was read from the private data' "$XDG_DATA_HOME/sotto/ledger/toy.jsonl")" -eq 1 ]
  "$SOTTO" verify p.safetensors --ledger "$XDG_DATA_HOME/sotto/ledger/toy.jsonl"
  run "$SOTTO" head --features X.npy --labels y.npy --classes 2 --trainer dp-sgd --batch 4 --epochs 1 --noise-multiplier 9 --dataset-id toy \
    --read-from-data max-grad-norm -o d.safetensors
  [[ "$output" == *"; only if this is true: The choice of max-grad-norm tells nothing about the records"* ]] || { echo "$output"; return 1; }
  refused 64 "head: --read-from-data needs" "$SOTTO" head --features X.npy --labels y.npy --read-from-data clip -o out.npy
}

@test "account --read-from-data: the same numbers, and nothing proved" {
  release=(account --mechanism laplace --scale 2 --l1 1)
  training=(account --mechanism gaussian --noise-multiplier 4 --sample-rate 0.1 --steps 10 --delta 1e-5)
  for words in release training; do
    declare -n command=$words
    plain=$("$SOTTO" "${command[@]}")
    [[ "$plain" != *"read from the private data"* ]]
    run "$SOTTO" "${command[@]}" --read-from-data l1
    [ "$status" -eq 0 ]
    [[ "$output" == *"$plain"*"proved: none; conditional: the account above, only if this is true: The choice of l1 tells nothing about the records, although it was read from the private data."* ]] || { echo "$output"; return 1; }
    run "$SOTTO" "${command[@]}" --read-from-data l1 --json
    [[ "$output" == *'"note": "only if this is true: The choice of l1 tells nothing about the records, although it was read from the private data.'* ]] || { echo "$output"; return 1; }
  done
  run "$SOTTO" account --mechanism gaussian-classical --epsilon 2 --l2 1 --delta 1e-5 --read-from-data l2
  [[ "$output" == *"only if this is true: The choice of l2 tells nothing about the records, although it was read from the private data. Besides, the published proof"* ]] || { echo "$output"; return 1; }
  refused 64 "account: --read-from-data cannot be combined with --choose" "$SOTTO" account --choose --epsilon 1 --l1 1 --read-from-data l1
  refused 64 "are too long; give fewer" "$SOTTO" "${release[@]}" --read-from-data "$(printf 'a%.0s' {1..150})"
}

# people FILE N J: shares 0, 1/2, 1 as f4
people() {
  printf %b "$(awk -v n=$(($2 * $3)) 'BEGIN { of[0] = "\\0\\0\\0\\0"; of[1] = "\\0\\0\\0\\077"; of[2] = "\\0\\0\\0200\\077"; for (i = 0; i < n; i++) printf "%s", of[i * 7 % 3] }')" |
    npy "$1" '<f4' "$2, $3"
}

@test "a statistic of records: sensitivity proved, n public, means out" {
  people g.npy 40 5
  run "$SOTTO" protect --table g.npy --statistic mean --range 0,1 --mechanism gaussian --epsilon 1 --delta 1e-6 --dataset-id toy -o out.npy
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [[ "$output" == *"(1, 1e-06)-differentially private under replace-one adjacency"* ]]
  [ "$(stat -c %s out.npy)" -eq $((128 + 5 * 8)) ]
  grep -q '"records": 40' out.npy.certificate.json
  run "$SOTTO" verify out.npy --ledger "$XDG_DATA_HOME/sotto/ledger/toy.jsonl"
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  printf '\1\0\1\0\1\0\1\0\1\0\1\0\1\0\1\0\1\0\1\0\1\0\1\0\1\0\1\0\1\0\1\0\1\0\1\0\1\0\1\0' | npy c.npy '|u1' '40,'
  "$SOTTO" protect --table g.npy --statistic chi-square-alleles --cases c.npy --mechanism laplace --epsilon 1 --dataset-id toy -o out.npy
  grep -q '"l1": 38.09523' out.npy.certificate.json # 5 loci of 8 40 / 42
}

@test "a statistic of records: what cannot be is refused before the charge" {
  people g.npy 4 2
  table() { "$SOTTO" protect --table g.npy --dataset-id toy -o out.npy --epsilon 1 "$@"; }
  refused 64 "protect: give exactly one of --head, --vector, --table and --records X.npy" table --vector v.npy --statistic mean
  refused 64 "protect: --table and --statistic must be given together" table
  refused 64 "protect: --range, --cases and --blocks describe a --statistic" protect --epsilon 1 --l1 1 --range 0,1
  refused 64 "--range: '1,0' is not a range; expected LOW,HIGH such as 0,1" table --statistic mean --range 1,0
  refused 64 "--range: '0' is not a range" table --statistic mean --range 0
  refused 64 "the mean of records needs --range" table --statistic mean
  refused 64 "omit --l1" table --statistic mean --range 0,1 --l1 1
  refused 64 "mechanism randomised-response releases no statistic of records" table --statistic mean --range 0,1 --mechanism randomised-response --classes 2
  refused 65 "has 1 dimensions; expected 2 (records, columns)" "$SOTTO" protect --table v.npy --statistic mean --range 0,1 --dataset-id toy -o out.npy --epsilon 1
  printf '\1\1\1\0' | npy c.npy '|u1' '4,'
  refused 65 "c.npy: 3 cases and 1 controls; expected as many of each" table --statistic chi-square-genotypes --cases c.npy
  [ ! -e "$XDG_DATA_HOME/sotto/ledger/toy.jsonl" ]
}

@test "genotypes: VCF in, list of a public reference, frequencies out, attack on them" {
  export SOTTO_DATA_DIR=$dir/sets
  vcf() { # NAME FIRST-PERSON PEOPLE: genotypes by a generator of 31 bits
    awk -v first="$2" -v people="$3" 'function bit(of, below) { x = x * 16807 % 2147483647; return x % of < below }
      BEGIN { x = first; printf "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT"
        for (i = 0; i < people; i++) printf "\tp%d", first + i
        for (j = 1; j <= 30; j++) {
          printf "\n1\t%d\trs%d\tA\tG\t.\t.\t.\tGT", j, j
          for (i = 0; i < people; i++) printf "\t%d|%d", bit(7, 3), bit(5, 2) }
        print "" }' > "$1"
  }
  vcf ref.vcf 100 30
  vcf pool.vcf 1 20
  gzip pool.vcf
  "$SOTTO" data import ref.vcf --name ref
  "$SOTTO" data loci ref -o loci.csv
  [ "$(head -1 loci.csv)" = id,allele,other,frequency ]
  [ "$(wc -l < loci.csv)" -eq 31 ]
  "$SOTTO" data import pool.vcf.gz --name pool --loci loci.csv
  "$SOTTO" data info pool | grep -q '20 people, 30 loci of a public list; 0 genotypes missing'
  "$SOTTO" data split pool --parts all=20 -o p
  "$SOTTO" data split ref --parts reference=20,outside=10 -o r
  "$SOTTO" protect --table p/all-features.npy --statistic mean --range 0,1 --mechanism laplace --epsilon 1 -o frequencies.npy
  grep -q '"condition": "the loci loci.csv do not depend on these records"' frequencies.npy.certificate.json
  cp loci.csv list.csv
  "$SOTTO" data import pool.vcf.gz --name bare --loci list.csv # a list that was published elsewhere
  "$SOTTO" data split bare --parts all=20 -o b
  "$SOTTO" protect --table b/all-features.npy --statistic mean --range 0,1 --mechanism laplace --epsilon 1 -o bare.npy
  grep -q '"proved": {' bare.npy.certificate.json
  "$SOTTO" data import pool.vcf.gz --name own --dataset-id people # a list of the very people
  "$SOTTO" data loci own -o own.csv
  "$SOTTO" data import pool.vcf.gz --name again --dataset-id people --loci own.csv
  "$SOTTO" data split again --parts all=20 -o a
  run "$SOTTO" protect --table a/all-features.npy --statistic mean --range 0,1 --mechanism laplace --epsilon 1 -o own.npy
  [ "$status" -eq 65 ]
  [[ "$output" == *"the loci own.csv was made from records of 'people', to which the private ones belong"* ]]
  run "$SOTTO" audit --member-features p/all-features.npy --nonmember-features r/outside-features.npy --released-mean frequencies.npy --reference-mean r/reference-features.npy --p-values q.csv -o traced
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [[ "$output" == *tracing-standardised*"homer: p <= 0.01 for "*"conformal p, which rests on exchangeable records alone"*"normal p, for independent features only"* ]]
  grep -q "by the conformal one, which rests on exchangeable records alone; .*by the normal one, for independent features only" traced/report.html
  [ "$(wc -l < q.csv)" -eq 31 ]
  # frequencies by locus and allele, in any order and of either allele
  { echo 'allele,frequency,id'; tail -n +2 loci.csv | sort -r | LC_ALL=C awk -F, 'NR % 2 { printf "%s,%.17g,%s\n", $3, 1 - $4, $1; next } { print $2 "," $4 "," $1 }'; } > published.csv
  LC_ALL=C awk -F, 'NR > 1 { print $4 }' loci.csv > same.csv
  by_list=$("$SOTTO" audit --member-features p/all-features.npy --nonmember-features r/outside-features.npy --released-mean frequencies.npy --reference-mean published.csv --loci loci.csv | tail -n 8)
  by_rows=$("$SOTTO" audit --member-features p/all-features.npy --nonmember-features r/outside-features.npy --released-mean frequencies.npy --reference-mean same.csv | tail -n 8)
  [ "$by_list" = "$by_rows" ] || { echo "$by_list"; echo "$by_rows"; return 1; }
  sed -i 2d published.csv
  run "$SOTTO" audit --member-features p/all-features.npy --nonmember-features r/outside-features.npy --released-mean frequencies.npy --reference-mean published.csv --loci loci.csv
  [ "$status" -eq 65 ]
  [[ "$output" == *"published.csv: has no locus 'rs"* ]]
  # people of the reference are no outsiders
  run "$SOTTO" audit --member-features p/all-features.npy --nonmember-features r/reference-features.npy --released-mean frequencies.npy --reference-mean r/reference-features.npy
  [ "$status" -eq 65 ]
  [[ "$output" == *"20 of 20 non-members have the features of a reference person"* ]]
  # without a list the columns follow the people, and every epsilon says so
  "$SOTTO" data split ref --parts own=30 -o s
  "$SOTTO" protect --table s/own-features.npy --statistic mean --range 0,1 --mechanism laplace --epsilon 1 -o own.npy
  grep -q '"proved": "none"' own.npy.certificate.json
  # a list with a locus that the file lacks
  echo 'rs99,G,A,.3' >> loci.csv
  run "$SOTTO" data import pool.vcf.gz --name pool2 --loci loci.csv
  [ "$status" -eq 65 ]
  [[ "$output" == *"has no line for 1 of 31 loci of the list"*"--absent none"* ]]
  "$SOTTO" data import pool.vcf.gz --name pool2 --loci loci.csv --absent none
  run "$SOTTO" data import pool.vcf.gz --name pool3 --absent none
  [ "$status" -eq 64 ]
}

@test "power of an attack on a released mean, before any data" {
  run "$SOTTO" audit --power loci=30000,pool=1000,reference=1000 --fpr 0.001
  [ "$status" -eq 0 ]
  [[ "$output" == *"0.001      30000      3.873       0.99692   0.7831"* ]] || { echo "$output"; return 1; }
  run "$SOTTO" audit --power tpr=0.9,pool=1000 --fpr 0.001 --json
  [[ "$output" == *'"loci": 19113'* ]]
  run "$SOTTO" audit --power pool=1000
  [ "$status" -eq 64 ]
  run "$SOTTO" audit --power loci=10,pool=5 --scores v.npy
  [ "$status" -eq 64 ]
  [[ "$output" == *"--power reads no arrays; omit --scores"* ]]
}

@test "loci by permute-and-flip: several columns of records, for one epsilon" {
  people g.npy 60 8
  printf %b "$(awk 'BEGIN { for (i = 1; i <= 60; i++) printf "\\0%d", i % 2 }')" | npy cases.npy '|u1' '60,'
  top() { "$SOTTO" protect --table g.npy --mechanism "${mechanism:-permute-and-flip}" --epsilon 1 --dataset-id toy -o out.npy "$@"; }
  run top --statistic chi-square-alleles --cases cases.npy --choices 3
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [[ "$output" == *"(1, 0)-differentially private under replace-one adjacency"* ]]
  [ "$(stat -c %s out.npy)" -eq 152 ] # three indices
  grep -q '"l1": 7.74' out.npy.certificate.json # of one locus, 8 n / (n + 2)
  run "$SOTTO" verify out.npy --ledger "$XDG_DATA_HOME/sotto/ledger/toy.jsonl"
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  run top --statistic mean --range 0,1 --choices 8
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  rm out.npy*
  refused 65 "9 choices of 8 candidates; expected 1 to 8" top --statistic mean --range 0,1 --choices 9
  mechanism=laplace refused 64 "--choices belongs to permute-and-flip, not to laplace" top --statistic mean --range 0,1 --choices 2
  mechanism=exponential refused 65 "'exponential' makes one choice" top --statistic mean --range 0,1 --choices 2
}

@test "propose-test-release: the most frequent label, or nothing" {
  labels() { printf %b "$(awk -v n="$1" -v twos="$2" 'BEGIN { for (i = 1; i <= n; i++) printf "\\0%d", i <= twos ? 2 : i % 2 }')" | npy y.npy '|u1' "$1,"; }
  most() { "$SOTTO" protect --table y.npy --statistic most-frequent --classes 4 --mechanism propose-test-release --epsilon 1 --delta "${delta:-1e-6}" --dataset-id toy -o out.npy "$@"; }
  released() { tail -c 8 out.npy | od -An -td8 | tr -d ' '; }
  labels 400 300 # 300 twos lead by 250: the threshold is 14
  run most
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [[ "$output" == *"propose-test-release"*"(1, 1e-06)-differentially private under replace-one adjacency"* ]] || { echo "$output"; return 1; }
  [ "$(released)" = 2 ]
  absent "distance\|threshold" out.npy.certificate.json
  run "$SOTTO" verify out.npy --ledger "$XDG_DATA_HOME/sotto/ledger/toy.jsonl"
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  labels 400 0 # 200 and 200: one replacement changes the answer
  run most
  [ "$status" -eq 0 ]
  [ "$(released)" = -1 ]
  run "$SOTTO" verify out.npy --ledger "$XDG_DATA_HOME/sotto/ledger/toy.jsonl"
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  run "$SOTTO" account --ledger "$XDG_DATA_HOME/sotto/ledger/toy.jsonl" --delta 2e-6 # both, as stated
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [[ "$output" == *"2"* ]]
  sed -i 's/"upper": 1[.0-9]*/"upper": 0.5/' out.npy.certificate.json
  run "$SOTTO" verify out.npy --ledger "$XDG_DATA_HOME/sotto/ledger/toy.jsonl"
  [ "$status" -ne 0 ]
  rm out.npy*
  delta=0 refused 65 "needs delta in (0, 1)" most
  refused 64 "omit --l1" most --l1 1
  people g.npy 60 1
  refused 64 "give --table, --statistic most-frequent and --classes" "$SOTTO" protect --table g.npy --statistic mean --range 0,1 --mechanism propose-test-release --epsilon 1 --delta 1e-6 --dataset-id toy -o out.npy
}

@test "a private median, of records and of the means of blocks" {
  people g.npy 60 1
  med() { "$SOTTO" protect --table g.npy --statistic median --range 0,1 --dataset-id toy -o out.npy "$@"; }
  run med --mechanism smooth-median --epsilon 1
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [[ "$output" == *"(1, 0)-differentially private under replace-one adjacency"* ]]
  [ "$(stat -c %s out.npy)" -eq 136 ]
  run "$SOTTO" verify out.npy --ledger "$XDG_DATA_HOME/sotto/ledger/toy.jsonl"
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  run med --mechanism smooth-median --epsilon 0.5 --blocks 12
  [ "$status" -eq 0 ]
  absent "smooth_sensitivity\|width" out.npy.certificate.json
  rm out.npy*
  refused 64 "belong together" med --epsilon 1
  refused 64 "belong together" "$SOTTO" protect --table g.npy --statistic mean --range 0,1 --mechanism smooth-median --epsilon 1 --dataset-id toy -o out.npy
  refused 64 "61 blocks of 60 records" med --mechanism smooth-median --epsilon 1 --blocks 61
  refused 65 "epsilon 100; expected 2^-10 to 64" med --mechanism smooth-median --epsilon 100
  refused 64 "give --table, --statistic median and --range" protect --mechanism smooth-median --epsilon 1 --l1 1
  people g.npy 30 2
  refused 65 "has 2 columns; expected one for a median" med --mechanism smooth-median --epsilon 1
}

@test "labels alone, by randomised response: proved by construction, without a sensitivity; account by the number of classes" {
  dir=$BATS_TEST_TMPDIR
  printf '\1\2\0\1' | npy "$dir/y.npy" '|u1' '4,'
  printf '\0\0\x80\x3f\0\0\0\x3f' | npy "$dir/half.npy" '<f4' '2,'
  rr=("$SOTTO" protect --mechanism randomised-response --epsilon 1 --dataset-id rr --ledger "$dir/l.jsonl" -o "$dir/o.npy")
  run -64 "${rr[@]}" --labels "$dir/y.npy"
  [[ "$output" == *"--labels needs --classes K"* ]]
  run -65 "${rr[@]}" --labels "$dir/half.npy" --classes 3
  [[ "$output" == *"expected integer labels"* ]]
  run -65 "${rr[@]}" --labels "$dir/y.npy" --classes 3 --l1 2
  [ ! -e "$dir/l.jsonl" ]
  "${rr[@]}" --labels "$dir/y.npy" --classes 3
  "$SOTTO" verify "$dir/o.npy" --ledger "$dir/l.jsonl" > "$dir/v.txt"
  grep -q "conditional  nothing" "$dir/v.txt"
  grep -q 'proved .*sensitivity and account' "$dir/v.txt"
  run -0 "$SOTTO" account --mechanism randomised-response --epsilon 1 --classes 3
  [[ "${lines[1]}" == *"at most 1 (pure)"* ]]
  run -64 "$SOTTO" account --mechanism laplace --scale 1 --l1 1 --classes 3
}
