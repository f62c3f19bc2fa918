#!/usr/bin/env bats
# shards: 3
# sotto run: heads and networks that are trained privately. Certificates, reuse, kill and resume, neighbours.

bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_TMPDIR" || exit 1
  export XDG_DATA_HOME=$PWD/share
  unset SOTTO_DATA_DIR
  cat > private.yaml <<'Y'
name: private
data: {set: synthetic-images-n600, public: 64, private: 120, heldout: 100}
pretrain: {epochs: 1, batch: 32, dtype: f32, backend: dnnl}
encoder: {evaluate: false}
head: {epochs: 2}
protect:
  - {trainer: dp-sgd, epsilon: 1, batch: 120, epochs: 2, lr: 4}
  - {trainer: dp-sgd, model: cnn, hidden: [8, 8, 16], epsilon: 1, batch: 60, epochs: 2, lr: 1, max_grad_norm: 0.5}
  - {trainer: dp-adam, from: encoder, freeze: all, epsilon: 2, batch: 120, epochs: 2}
attack: {names: [loss]}
Y
}
entries() { grep -cE '"event":"(reserve|planned)"' "$1" || :; } # of private trainings, each a slot or a charge of its own

@test "private heads, networks and a fine-tuned encoder: certified, proved on the page, attacked, never made twice" {
  "$SOTTO" run private.yaml
  cd runs/private
  for i in 1 2 3; do
    "$SOTTO" verify protected/head-p$i.safetensors --ledger ledger.jsonl > out
    grep -q 'proved       sensitivity and account' out
    grep -q "ledger's chain is whole and holds this release" out
    grep -q '"name":"Loss threshold"\|"loss"' attacks/head-p$i.json
    [ ! -e protected/head-p$i.safetensors.provenance.json ] # it would tell which records they are
  done
  "$SOTTO" certificate protected/head-p2.safetensors --ledger ledger.jsonl > page
  grep -Eq '^  Data set +synthetic-images-n600$' page
  grep -Eq '^  Classes +10, as given by the registered data set' page
  grep -Eq '^  Delta +0.0001, below 1/n = 0.008333$' page
  grep -q 'no record that trained it is among the private ones' out
  [ "$(ls checkpoints)" = "$(basename checkpoints/pretrain-*)" ]
  python3 - <<'P'
import json
rows = json.load(open("report.json"))["rows"]
assert [("proved" in r, "conditional" in r) for r in rows] == [(False, False)] + 3 * [(True, False)], rows
assert [r["title"] for r in rows[1:]] == ["head, trained by dp-sgd for epsilon 1", "head: cnn, trained by dp-sgd for epsilon 1",
                                          "head: fine-tuned encoder, trained by dp-adam for epsilon 2"]
for r, epsilon in zip(rows[1:], (1, 1, 2)):
    assert r["proved"]["adjacency"] == "replace-one" and 0.9 * epsilon < r["proved"]["epsilon"]["upper"] <= epsilon, r["proved"]
    assert 0 <= r["utility"]["accuracy"]["estimate"] <= 1 and r["measured"]["attacks"], r
assert len({r["group"] for r in rows}) == 4
P
  grep -q '<h1 data-verdict>Proved for 3 of 4 settings, at best: ' report.html
  cd ../..
  sha256sum runs/private/protected/* runs/private/ledger.jsonl runs/private/run.json > before
  "$SOTTO" run private.yaml
  sha256sum -c --quiet before
  # Another recipe of the head beside them trains and charges nothing anew.
  "$SOTTO" run private.yaml -s head.epochs=1
  sed -i '/run.json/d' before
  sha256sum -c --quiet before
  # Another recipe of one network: that one only.
  "$SOTTO" run private.yaml -s 'protect[1].epochs=1'
  [ "$(sha256sum -c before 2> /dev/null | grep -c FAILED)" -eq 3 ] # network, certificate, ledger
}

# interrupt SIGNAL OPTIONS...: a run that gets the signal once two private trainings are charged, of which the network is the last
interrupt() {
  local signal=$1 pid
  shift
  "$SOTTO" run private.yaml "$@" 2> error &
  pid=$!
  for _ in $(seq 2400); do
    [ -e runs/private/ledger.jsonl ] && [ "$(entries runs/private/ledger.jsonl)" = 2 ] && break
    sleep 0.02
  done
  kill -"$signal" $pid
  code=0
  wait $pid || code=$?
  [ "$code" -ne 0 ]
  [ ! -e runs/private/protected/head-p2.safetensors ]
  sha256sum runs/private/protected/head-p1* runs/private/models/* > before
}
every_release_verifies() { for i in 1 2 3; do "$SOTTO" verify runs/private/protected/head-p$i.safetensors --ledger runs/private/ledger.jsonl > /dev/null; done; }

@test "killed with -9 in a private stage: what was finished stays, the rest is drawn and charged again" {
  interrupt KILL -s 'protect[1].epochs=100'
  "$SOTTO" run private.yaml -s 'protect[1].epochs=100'
  sha256sum -c --quiet before
  [ "$(entries runs/private/ledger.jsonl)" = 4 ] # the head once, the network twice, the encoder once
  every_release_verifies
}

@test "stopped after the charge: the error names it, and the same command continues from the checkpoint" {
  interrupt INT -s 'protect[1].epochs=100'
  [ "$code" -eq 75 ] || [ "$code" -eq 130 ] || { echo "exit $code"; cat error; false; }
  grep -q "slot 2 of plan .* is spent, and nothing of it comes back; what is drawn anew is charged by itself, without planned: the same command continues" error || { cat error; false; }
  [ "$(ls runs/private/checkpoints/head-p2-*.safetensors | wc -l)" -eq 1 ]
  run "$SOTTO" run private.yaml -s 'protect[1].epochs=100'
  [ "$status" -eq 0 ]
  [[ "$output" == *"protect/head-p2 is charged by itself: it has a checkpoint, and no slot pays for steps that are drawn anew"* ]]
  [[ "$output" == *"the remaining steps are charged again"* ]]
  [ "$(grep -c '"event":"reserve"' runs/private/ledger.jsonl)" -eq 1 ]
  sha256sum -c --quiet before
  [ "$(entries runs/private/ledger.jsonl)" = 4 ]
  [ -z "$(ls runs/private/checkpoints | grep head-p2 || :)" ]
  every_release_verifies
}

@test "what is wrong with a private row is said before anything is computed or charged" {
  refused() { # CODE TEXT OPTIONS...
    local code=$1 text=$2
    shift 2
    run "$SOTTO" run private.yaml --quiet "$@"
    [ "$status" -eq "$code" ] && [[ "$output" == *"$text"* ]] && [ "$(wc -l <<< "$output")" -eq 1 ] || { echo "exit $status: $output"; return 1; }
    [ ! -e runs/private/models ]
    [ ! -e runs/private/ledger.jsonl ]
  }
  refused 78 "protect[1].epsilon must be" -s 'protect[1].epsilon=0'
  refused 78 "protect[1]: model 'tree' is unknown" -s 'protect[1].model=tree'
  refused 78 "protect[2].from is 'other'" -s 'protect[2].from=other'
  refused 78 "protect[2].trainer is 'covariance', which trains heads only" -s 'protect[2].trainer=covariance'
  # These need the records' shape.
  refused 78 "head, protect[1]: " -s 'protect[1].model=mobilenetv2' -s 'protect[1].hidden='
  refused 78 "batch norm computes with the mean of the whole batch" -s pretrain.encoder=resnet8 -s 'protect[2].freeze=none'
  refused 78 "protect[2]: " -s 'protect[2].freeze=32'
}

# Canaries: coins before the training, one audit after it, both on one page.
canary_rows() {
  cat > canaries.yaml <<'Y'
name: canaries
data: {set: synthetic-images-n600, public: 64, private: 200, heldout: 100}
pretrain: {epochs: 1, batch: 32, dtype: f32, backend: dnnl}
encoder: {evaluate: false}
head: {epochs: 1}
protect:
  - {trainer: covariance, epsilon: 8, canaries: {count: 40, kind: mislabelled, guesses: 10}}
  - {trainer: dp-sgd, model: cnn, hidden: [4, 4, 8], epsilon: 2, batch: 60, epochs: 1, lr: 1, adjacency: zero-out, canaries: {count: 60, kind: dirac, guesses: 10}}
  - {trainer: covariance, epsilon: 8, canaries: {count: 30, kind: clipbkd, guesses: 10}}
  - {trainer: covariance, epsilon: 8, canaries: {count: 30, kind: in-distribution, guesses: 10}}
attack: {names: [loss]}
Y
}

@test "canaries: certificate and audit on one page, coins opened once, records that were displaced are no members" {
  canary_rows
  "$SOTTO" run canaries.yaml --quiet
  cd runs/canaries
  for i in 1 2 3 4; do
    "$SOTTO" verify protected/head-p$i.safetensors --ledger ledger.jsonl > /dev/null
    grep -q "coins $(sed -n 's/.*"commitment": "\([0-9a-f]*\)".*/\1/p' protected/head-p$i.safetensors.coins.json)" ledger.jsonl
    [ -s protected/head-p$i.safetensors.coins.json.opened ]
  done
  python3 - <<'P'
import json
rows = json.load(open("report.json"))["rows"]
assert [r["canaries"]["access"] for r in rows[1:]] == ["black-box", "white-box", "black-box", "black-box"]
assert [r["canaries"]["audit"]["curve"]["adjacency"] for r in rows[1:]] == ["replace-one", "zero-out", "replace-one", "replace-one"]
for r in rows[1:]:
    a = r["canaries"]["audit"]
    assert "refused" not in a["curve"] and a["attacks"][0]["one_run"]["guesses"] == 20, a
    assert a["attacks"][0]["one_run"]["epsilon_lower_bound"] <= r["proved"]["epsilon"]["upper"]
assert [r["measured"]["n_member"] for r in rows] == [200, 160, 200, 200, 140]
P
  "${BATS_TEST_DIRNAME}"/../../tools/check-schema report.json
  grep -q 'Certificates and audits by canaries' report.html
  grep -q '60 dirac, white-box' report.html
  sed 's/"contradicted": *false/"contradicted": true/' report.json > forged.json
  "$SOTTO" report forged.json -o forged.html > /dev/null
  grep -q '<strong>contradicted</strong>, p = ' forged.html
  grep -q 'Certificate contradicted: the audit by canaries rejects its curve' forged.html
  cd ../..
  sha256sum runs/canaries/protected/* runs/canaries/ledger.jsonl runs/canaries/attacks/* > before
  "$SOTTO" run canaries.yaml --quiet
  sha256sum -c --quiet before
  # Another number of guesses, chosen after the coins were seen, would void the level.
  run "$SOTTO" run canaries.yaml --quiet -s 'protect[0].canaries.guesses=12'
  [ "$status" -eq 65 ]
  [[ "$output" == *"a second choice voids the level"* ]] || { echo "$output"; false; }
  sha256sum -c --quiet before
  # Another training has other coins.
  "$SOTTO" run canaries.yaml --quiet -s 'protect[0].epsilon=4'
  [ "$(sha256sum -c before 2> /dev/null | grep FAILED | grep -c 'head-p1.safetensors.coins.json:')" -eq 1 ]
}

@test "canaries: a training that was interrupted goes on with its coins" {
  canary_rows
  sed -i 's/name: canaries/name: private/; s/epochs: 1, lr: 1/epochs: 30, lr: 1/' canaries.yaml
  mv canaries.yaml private.yaml
  interrupt INT
  cp runs/private/protected/head-p2.safetensors.coins.json coins
  "$SOTTO" run private.yaml --quiet
  cmp coins runs/private/protected/head-p2.safetensors.coins.json
  [ -s runs/private/attacks/head-p2.canaries.json ]
}

@test "canaries: noise of a seed guarantees nothing, so no coin is opened and no audit is shown" {
  canary_rows
  sed -i '/model: cnn/d; /clipbkd/d; /in-distribution/d' canaries.yaml
  "$SOTTO" run canaries.yaml --quiet --insecure-noise-seed 3
  [ -s runs/canaries/protected/head-p1.safetensors.coins.json ]
  [ ! -e runs/canaries/protected/head-p1.safetensors.coins.json.opened ]
  run -1 grep -q 'Certificates and audits by canaries' runs/canaries/report.html
}

@test "canaries: what cannot be is said before anything is computed" {
  canary_rows
  refused() { # TEXT OPTIONS...
    local text=$1
    shift
    run "$SOTTO" run canaries.yaml --quiet "$@"
    [ "$status" -eq 78 ] && [[ "$output" == *"$text"* ]] && [ "$(wc -l <<< "$output")" -eq 1 ] || { echo "exit $status: $output"; return 1; }
    [ ! -e runs/canaries/models ]
  }
  refused "protect[0].canaries has no guesses; expected a number of guesses on each side, fixed beforehand" -s 'protect[0].canaries.guesses='
  refused "protect[0].canaries has no count" -s 'protect[0].canaries.count='
  refused "protect[1].canaries: 41 guesses on each side of 60 canaries; expected at most 30" -s 'protect[1].canaries.guesses=41'
  refused "access black-box does not fit the kind; expected white-box for dirac alone" -s 'protect[1].canaries.access=black-box'
  refused "protect[0].canaries: trainer taylor takes none; expected dp-sgd, dp-adam, dp-gd or covariance" -s 'protect[0].trainer=taylor'
  refused "protect[0].adjacency: trainer covariance has a guarantee for a replaced record only" -s 'protect[0].adjacency=zero-out'
}

@test "descent and objective perturbation: each with its own law, account and neighbours" {
  sed -i '/{trainer:/d' private.yaml
  sed -i 's/^protect:/&\n  - {trainer: dp-gd, epsilon: 1, adjacency: zero-out}\n  - {trainer: objective, epsilon: 2}/' private.yaml
  "$SOTTO" run private.yaml --quiet
  "$SOTTO" verify runs/private/protected/head-p1.safetensors --ledger runs/private/ledger.jsonl | grep -q 'epsilon 1 at delta 0.0001, zero-out adjacency (gaussian'
  "$SOTTO" verify runs/private/protected/head-p2.safetensors --ledger runs/private/ledger.jsonl | grep -q 'epsilon 2 at delta 0, replace-one adjacency (objective-perturbation'
  for wrong in 'adjacency: zero-out' 'canaries: {count: 20, guesses: 5, kind: dirac}'; do
    sed "s/objective, epsilon: 2/&, $wrong/" private.yaml > wrong.yaml
    run "$SOTTO" run wrong.yaml -s name=wrong
    [ "$status" -eq 78 ]
    [[ $output == *"trainer objective "* ]]
    [ ! -e runs/wrong/ledger.jsonl ]
  done
}
