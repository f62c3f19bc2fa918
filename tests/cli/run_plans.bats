#!/usr/bin/env bats
# shards: 3
# sotto run: rows of protect whose parameters the experiment fixes are charged as one plan, before the first noise: noise, and private training.

load ../support/effort

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  export XDG_DATA_HOME=$PWD/share
  unset SOTTO_DATA_DIR
  cat > e.yaml <<'Y'
name: e
data: {set: synthetic-images-n600, public: 64, private: 120, heldout: 100}
pretrain: {epochs: 1, batch: 32, dtype: f32, backend: dnnl}
encoder: {evaluate: false}
head: {trainer: convex, lambda: 0.1}
protect:
  - {mechanism: gaussian, epsilon: 1, delta: 1e-5}
  - {mechanism: gaussian, scale: 2, delta: 1e-5}
  - {mechanism: gaussian, scale: 3, delta: 1e-5}
attack: {names: [loss]}
Y
  ledger=runs/e/ledger.jsonl
}
count() { grep -c "\"event\":\"$1\"" "$ledger" || :; }
every_release_verifies() { for i in 1 2 3; do "$SOTTO" verify runs/e/protected/head-p$i.safetensors --ledger $ledger > "verified-$i"; done; }
# As if the process had been killed behind the first N lines of the ledger: no release ended.
killed_behind() {
  head -n "$1" "$ledger" > cut && mv cut "$ledger"
  rm runs/e/protected/head-p*
  python3 -c '
import json
d = json.load(open("runs/e/run.json"))
d["stages"] = {name: stage for name, stage in d["stages"].items() if not name.startswith("protect/")}
json.dump(d, open("runs/e/run.json", "w"))'
}

@test "one plan for three releases costs less than one by one, and each verifies" {
  "$SOTTO" run e.yaml 2> said
  grep -qx 'protect: 3 releases are charged as one plan: epsilon 1.27653 at delta 1e-05; one by one they add up to 1.9766' said
  [ "$(count plan)" -eq 1 ]
  [ "$(count planned)" -eq 3 ]
  [ "$(count release)" -eq 0 ]
  "$SOTTO" ledger show $ledger > shown
  grep -q '^total: epsilon 1.27653 at delta 1e-05' shown
  grep -q '^plan [0-9a-f]*: 3 of 3 slots spent' shown
  every_release_verifies
  grep -q 'it is slot 2 of plan' verified-2
  "$BATS_TEST_DIRNAME/../../tools/check-schema" $ledger runs/e/protected/head-p1.safetensors.certificate.json
  python3 "$BATS_TEST_DIRNAME/../../verifier/sotto-verify.py" runs/e/protected/head-p3.safetensors.certificate.json --ledger $ledger > verified
  grep -q '"plan": "[0-9a-f]\{64\}"' runs/e/plans.json
  cp $ledger kept
  "$SOTTO" run e.yaml 2> said # nothing is made twice
  cmp $ledger kept
}

@test "rows that the experiment does not fix are charged one by one, and the output says which and why" {
  cat > e.yaml <<'Y'
name: e
data: {set: synthetic-images-n600, public: 64, private: 240, heldout: 100}
pretrain: {epochs: 1, batch: 32, dtype: f32, backend: dnnl}
encoder: {evaluate: false}
cases:
  - name: proved
    records: 120
    head: {trainer: convex, lambda: 0.1}
    protect: [{mechanism: gaussian, epsilon: 1, delta: 1e-5}, {mechanism: laplace, epsilon: 3}, {trainer: dp-sgd, noise: logistic, epsilon: 3, batch: 40, epochs: 1}, {trainer: objective, epsilon: 3, read_from_data: [clip]}]
  - name: sampled
    records: 120
    head: {epochs: 1}
    sensitivity: {pairs: 4}
    protect: [{mechanism: gaussian, epsilon: 1, delta: 1e-5}, {mechanism: gaussian, scale: 2, delta: 1e-5, l2: 0.1}, {mechanism: gaussian, scale: 2, delta: 1e-5, l2: 0.1, read_from_data: [l2]}]
attack: {names: [loss]}
Y
  "$SOTTO" run e.yaml 2> said || { cat said; false; }
  grep -q 'protect: 2 releases are charged as one plan' said
  grep -q '^protect/proved-p2 is charged by itself: a plan counts no L2 norm of laplace noise, so it would cost epsilon 3 at delta 1e-06, and .* by itself$' said
  grep -q '^protect/proved-p3 is charged by itself: no plan can hold it (of steps by logistic with this clipping only Renyi divergences are known' said
  grep -qx 'protect/proved-p4 is charged by itself: clip was read from the private data' said
  grep -qx 'protect/sampled-p1 is charged by itself: its sensitivity was sampled' said
  grep -qx 'protect/sampled-p3 is charged by itself: l2 was read from the private data' said
  [ "$(count plan)" -eq 1 ]
  [ "$(count planned)" -eq 2 ] # of two cases
  [ "$(count release)" -eq 4 ]
  [ "$(count reserve)" -eq 1 ]
}

# trained_rows [BATCH]: steps over all records, whose account takes no time, or by BATCH of them
trained_rows() {
  local batch=${1:-120}
  sed -i '/mechanism: gaussian/d' e.yaml
  sed -i "s/^protect:/&\n  - {trainer: dp-sgd, epsilon: 2, delta: 1e-5, batch: $batch, epochs: 4}\n  - {trainer: dp-sgd, model: mlp, hidden: [8], epsilon: 2, delta: 1e-5, batch: $batch, epochs: 4}\n  - {trainer: covariance, epsilon: 1, delta: 1e-5}/" e.yaml
}

@test "private training is in the plan: heads, networks, with canaries, each at what its slot was charged" {
  trained_rows 24
  sed -i '/^attack/d' e.yaml
  cat >> e.yaml <<'Y'
  - {mechanism: gaussian, epsilon: 1, delta: 1e-5}
  - {trainer: dp-gd, epsilon: 2, delta: 1e-5}
  - {trainer: objective, epsilon: 1}
  - {trainer: dp-adam, from: encoder, freeze: all, epsilon: 2, delta: 1e-5, batch: 24, epochs: 2, sampling: fixed, clipping: quantile}
  - {trainer: dp-sgd, epsilon: 2, delta: 1e-5, batch: 24, epochs: 4, adjacency: zero-out, canaries: {count: 10, kind: in-distribution, guesses: 3}}
attack: {names: [loss]}
Y
  "$SOTTO" run e.yaml 2> said || { cat said; false; }
  grep -q '^protect: 8 releases are charged as one plan: epsilon [0-7]\.[0-9]* at delta 1e-05; one by one they add up to 1[34]\.' said || { cat said; false; }
  [ "$(grep -c 'charged by itself' said)" -eq 0 ]
  [ "$(count plan)" -eq 1 ]
  [ "$(count planned)" -eq 8 ]
  [ "$(count release)" -eq 0 ]
  [ "$(count reserve)" -eq 0 ]
  "$SOTTO" ledger show $ledger > shown
  grep -q '^plan [0-9a-f]*: 8 of 8 slots spent' shown
  grep -Eq '^any order of choices: epsilon (4|8|16|32) at delta 1e-05' shown # one by one: a level holds, too
  derived=$(by_effort "2 8" "1 2 3 4 5 6 7 8" "1 2 3 4 5 6 7 8") # a network, and one with canaries; the verifier in Python takes 2 s for each
  for i in 1 2 3 4 5 6 7 8; do
    "$SOTTO" verify runs/e/protected/head-p$i.safetensors --ledger $ledger > verified || { echo $i; cat verified; false; }
    grep -q "it is slot $i of plan" verified
    [[ "$derived" == *$i* ]] || continue
    python3 "$BATS_TEST_DIRNAME/../../verifier/sotto-verify.py" runs/e/protected/head-p$i.safetensors.certificate.json --ledger $ledger > /dev/null
  done
  "$BATS_TEST_DIRNAME/../../tools/check-schema" $ledger
  cp $ledger kept
  "$SOTTO" run e.yaml 2> said # nothing is made twice
  cmp $ledger kept
}

@test "a training that was killed behind its slot draws anew, at a charge of its own; the others keep their slots" {
  trained_rows
  "$SOTTO" run e.yaml --quiet > /dev/null
  killed_behind 2
  "$SOTTO" run e.yaml 2> said
  grep -qx 'protect/head-p1: its slot in a plan was spent by a release that did not end, so it is charged again' said
  [ "$(count plan)" -eq 1 ]
  [ "$(count planned)" -eq 3 ]
  [ "$(count reserve)" -eq 1 ]
  every_release_verifies
  rm -r runs
  "$SOTTO" run e.yaml --quiet > /dev/null
  killed_behind 1
  "$SOTTO" run e.yaml 2> said # before its slot: that one
  [ "$(count plan)" -eq 1 ]
  [ "$(count planned)" -eq 3 ]
  [ "$(count reserve)" -eq 0 ]
  every_release_verifies
}

@test "a training that goes on from its checkpoint pays for what it draws anew, outside any plan" {
  trained_rows
  sed -i '/covariance/d; s/mlp, hidden: \[8\], epsilon: 2, delta: 1e-5, batch: 120, epochs: 4/mlp, hidden: [8], epsilon: 2, delta: 1e-5, batch: 120, epochs: 4000/' e.yaml
  "$SOTTO" run e.yaml --quiet > /dev/null &
  job=$!
  until [ -e $ledger ] && [ "$(count planned)" -eq 2 ]; do sleep 0.05; done
  kill -INT $job
  wait $job || true
  [ "$(ls runs/e/checkpoints | grep -c head-p2)" -eq 1 ]
  "$SOTTO" run e.yaml 2> said -s 'protect[0].epochs=3' # which another row needs, and this one alone is no plan
  grep -qx 'protect/head-p2 is charged by itself: it has a checkpoint, and no slot pays for steps that are drawn anew' said || { cat said; false; }
  [ "$(count plan)" -eq 1 ]
  [ "$(count planned)" -eq 2 ]
  [ "$(count reserve)" -eq 2 ]
  for i in 1 2; do "$SOTTO" verify runs/e/protected/head-p$i.safetensors --ledger $ledger > /dev/null; done
}

@test "what a slot asks is for the ledger to say: rows that were swapped in plans.json get none that is not theirs" {
  trained_rows
  "$SOTTO" run e.yaml --quiet > /dev/null
  killed_behind 1
  python3 -c '
import json
d = json.load(open("runs/e/plans.json"))
rows = d["plans"][0]["rows"]
rows[0], rows[2] = rows[2], rows[0]
rows[1]["events"] = rows[2]["events"]
json.dump(d, open("runs/e/plans.json", "w"))'
  "$SOTTO" run e.yaml 2> said
  grep -q '^protect: 2 releases are charged as one plan' said
  [ "$(count plan)" -eq 2 ]
  [ "$(count planned)" -eq 3 ]
  [ "$(count reserve)" -eq 0 ]
  "$SOTTO" ledger show $ledger > shown
  grep -q '^plan [0-9a-f]*: 1 of 3 slots spent' shown
  every_release_verifies
}

@test "one row is no plan" {
  sed -i '/scale: [23]/d' e.yaml
  "$SOTTO" run e.yaml 2> said
  [ "$(count plan)" -eq 0 ]
  [ "$(count release)" -eq 1 ]
  [ "$(grep -c 'charged by itself' said)" -eq 0 ]
}

@test "killed behind the plan: its slots are used, and nothing is charged again" {
  "$SOTTO" run e.yaml --quiet > /dev/null
  killed_behind 1
  python3 -c '
import json
kept = json.load(open("runs/e/plans.json"))
del kept["plans"][0]["plan"] # its id, which the process had no time to keep
json.dump(kept, open("runs/e/plans.json", "w"))'
  "$SOTTO" run e.yaml --quiet > /dev/null
  [ "$(count plan)" -eq 1 ]
  [ "$(count planned)" -eq 3 ]
  [ "$(count release)" -eq 0 ]
  every_release_verifies
}

@test "killed between a slot and its noise: that row is charged again, and the others go on with theirs" {
  "$SOTTO" run e.yaml --quiet > /dev/null
  killed_behind 2
  "$SOTTO" run e.yaml 2> said
  grep -qx 'protect/head-p1: its slot in a plan was spent by a release that did not end, so it is charged again' said
  [ "$(count plan)" -eq 1 ]
  [ "$(count planned)" -eq 3 ]
  [ "$(count release)" -eq 1 ]
  every_release_verifies
}

@test "killed in two rows: what is left is a new plan" {
  "$SOTTO" run e.yaml --quiet > /dev/null
  killed_behind 4 # slot 1, its file, slot 2
  "$SOTTO" run e.yaml 2> said
  grep -q 'protect: 2 releases are charged as one plan' said
  [ "$(count plan)" -eq 2 ]
  [ "$(count planned)" -eq 5 ]
  [ "$(count release)" -eq 0 ]
  every_release_verifies
}

@test "killed before the plan was charged: it is charged once" {
  "$SOTTO" run e.yaml --quiet > /dev/null
  killed_behind 0
  rm $ledger
  "$SOTTO" run e.yaml --quiet > /dev/null
  [ "$(count plan)" -eq 1 ]
  [ "$(count planned)" -eq 3 ]
  every_release_verifies
}

@test "a row that changed has no slot, and the others keep theirs" {
  "$SOTTO" run e.yaml --quiet > /dev/null
  killed_behind 1
  "$SOTTO" run e.yaml --quiet -s 'protect[2].scale=4' > /dev/null
  [ "$(count plan)" -eq 1 ]
  [ "$(count planned)" -eq 2 ]
  [ "$(count release)" -eq 1 ]
  every_release_verifies
}

@test "a plan beyond the budget is not charged: the rows are, as far as it goes" {
  "$SOTTO" ledger init --dataset-id synthetic-images-n600 --ledger $ledger --budget 1.1,1e-5 > /dev/null
  run "$SOTTO" run e.yaml
  [ "$status" -eq 77 ]
  [[ "$output" == *"protect: 3 rows do not fit into the budget as one plan, so they are charged one by one"* ]]
  [ "$(count plan)" -eq 0 ]
  [ "$(count release)" -ge 1 ]
}

@test "seeded noise has no plan" {
  "$SOTTO" run e.yaml --quiet --insecure-noise-seed 3 > /dev/null
  [ "$(count plan)" -eq 0 ]
  [ "$(count release)" -eq 3 ]
}

@test "each run of a private set plans in the ledger of the set" {
  python3 -c '
import random
def npy(path, kind, shape, data):
    head = "{\"descr\": \"%s\", \"fortran_order\": False, \"shape\": %s, }" % (kind, shape)
    open(path, "wb").write(b"\x93NUMPY\x01\x00\x76\x00" + head.ljust(117).encode() + b"\n" + data)
npy("images.npy", "|u1", (184, 1, 16, 16), random.Random(1).randbytes(184 * 256))
npy("labels.npy", "|u1", (184,), bytes(i % 2 for i in range(184)))'
  "$SOTTO" data import images.npy:labels.npy --name pictures --dataset-id pictures-1 --quiet
  sed -i 's/set: synthetic-images-n600, public: 64, private: 120, heldout: 100/set: pictures, public: 64, private: 60, heldout: 60, classes: 2/; /scale: 3/d' e.yaml
  ledger=$XDG_DATA_HOME/sotto/ledger/pictures-1.jsonl
  for folder in one two; do "$SOTTO" run e.yaml -o $folder --quiet > /dev/null; done
  [ "$(count plan)" -eq 2 ]
  [ "$(count planned)" -eq 4 ]
  [ "$(count release)" -eq 0 ]
  for i in 1 2; do "$SOTTO" verify two/protected/head-p$i.safetensors --ledger "$ledger" > /dev/null; done
  # nothing that may be published names the stages, whose hashes are of private files
  [ -z "$(grep -rl "$(sed -n 's/.*"hash": "\([0-9a-f]*\)".*/\1/p' two/plans.json | head -n 1)" two/protected)" ]
}

@test "a plan that would cost more than one by one is not made" {
  sed -i '/scale: 3/d; s/epsilon: 1, delta/scale: 13400, delta/; s/scale: 2/scale: 13400/' e.yaml # epsilon 0 each, at delta 1e-5
  "$SOTTO" run e.yaml 2> said
  grep -q 'protect: 2 releases are charged one by one: as one plan they would cost epsilon .* at delta 1e-05, and one by one they add up to 0' said
  [ "$(count plan)" -eq 0 ]
  [ "$(count release)" -eq 2 ]
}
