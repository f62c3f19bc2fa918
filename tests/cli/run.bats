#!/usr/bin/env bats
# shards: 5
# sotto run: messages, folders, resume after kill -9.

bats_require_minimum_version 1.5.0

setup() {
  root=$(mktemp -d)
  export XDG_DATA_HOME=$root/share
  cd "$root"
  cat > small.yaml <<'Y'
name: small
data: {set: synthetic-images-n600, public: 64, private: 60, heldout: 100}
pretrain: {epochs: 1, batch: 32, dtype: f32, backend: dnnl}
head: {epochs: 2}
attack: {names: [loss]}
Y
}
teardown() { rm -rf "$root"; }

@test "a run leaves its folder: config, run.json, models, metrics, splits, report" {
  run "$SOTTO" run small.yaml
  [ "$status" -eq 0 ]
  for f in config.yaml config.resolved.yaml run.json metrics.jsonl metrics.csv splits/private.npy \
           models/encoder.safetensors models/head.safetensors attacks/head.json report.json report.html; do
    [ -s "runs/small/$f" ]
  done
  [ "$(stat -c %a runs/small)" = 700 ]
  grep -q -i synthetic runs/small/report.html
}

@test "--fresh starts another folder" {
  "$SOTTO" run small.yaml
  run "$SOTTO" run small.yaml --fresh --json
  [ "$status" -eq 0 ]
  [[ "$output" == *'"folder": "runs/small-2"'* ]]
}

@test "auto is resolved before the stages' hashes, and a folder keeps what it was" {
  pretrain_hash() { sed -n '/"pretrain": {/,/"hash"/s/.*"hash": "\(.*\)".*/\1/p' "$1/run.json"; }
  tiny=(small.yaml -s data.public=32 -s pretrain.batch=16)
  auto=(-s pretrain.dtype=auto -s pretrain.backend=auto)
  "$SOTTO" run "${tiny[@]}" "${auto[@]}" -o a
  grep -q '"how": "short"' a/run.json
  "$SOTTO" run "${tiny[@]}" -s pretrain.dtype=f32 -s pretrain.backend=dnnl -o b
  [ -n "$(pretrain_hash a)" ]
  [ "$(pretrain_hash a)" = "$(pretrain_hash b)" ]
  [ "$(grep -c '"autotune"' b/run.json)" -eq 0 ]
  before=$(pretrain_hash a)
  sed -i '/"autotune": {/,/"how"/s/"backend": "dnnl"/"backend": "ref"/' a/run.json
  "$SOTTO" run "${tiny[@]}" "${auto[@]}" -o a
  now=$(pretrain_hash a)
  [ -n "$now" ]
  [ "$now" != "$before" ]
  grep -q '"backend": "reference"' a/run.json
}

@test "unknown key: line, column, suggestion, exit 78" {
  printf 'name: x\nprotect:\n  - {mechanism: logistic, epsilonn: 1}\n' > bad.yaml
  run "$SOTTO" run bad.yaml
  [ "$status" -eq 78 ]
  [ "$output" = "sotto: error: bad.yaml:3:27: unknown key 'epsilonn' under protect[0]; did you mean 'epsilon'?" ]
}

@test "missing file 66, missing data set 66, bad override 78" {
  run "$SOTTO" run none.yaml
  [ "$status" -eq 66 ]
  run "$SOTTO" run small.yaml -s data.set=nonesuch
  [ "$status" -eq 66 ]
  [[ "$output" == *"data set 'nonesuch' not found"* ]]
  run "$SOTTO" run small.yaml -s pretrain.epochs=none
  [ "$status" -eq 78 ]
}

@test "more records than the set holds: one line, exit 65" {
  run "$SOTTO" run small.yaml -s data.public=1000000000
  [ "$status" -eq 65 ]
  [ "$(grep -c 'sotto: error' <<< "$output")" -eq 1 ]
}

@test "killed with -9 during pre-training, then run again: the same encoder as without the kill" {
  long=(small.yaml --threads 1 -s pretrain.epochs=8 -s encoder.evaluate=false)
  "$SOTTO" run "${long[@]}" -o whole
  "$SOTTO" run "${long[@]}" -o killed &
  pid=$!
  for _ in $(seq 600); do
    [ -s killed/metrics.jsonl ] && break
    sleep 0.05
  done
  kill -9 $pid 2>/dev/null || :
  wait $pid || :
  "$SOTTO" run "${long[@]}" -o killed
  cmp whole/models/encoder.safetensors killed/models/encoder.safetensors
  cmp whole/models/head.safetensors killed/models/head.safetensors
}

@test "every output of seeded noise says so" {
  cat >> small.yaml <<'Y'
protect:
  - {mechanism: logistic, scale: 0.5, l1: 1}
Y
  run "$SOTTO" run small.yaml --insecure-noise-seed 7
  [ "$status" -eq 0 ]
  grep -q "noise was seeded: no privacy guarantee" runs/small/protected/head-p1.safetensors.certificate.json
  grep -q -i "noise was seeded: no privacy" runs/small/report.html
}

@test "the demo without Fashion-MNIST says that its data are synthetic" {
  run env SOTTO_FASHION_MNIST=/dev/null "$SOTTO" demo -o demo -s data.public=256 -s data.private=120 -s data.heldout=100 \
    -s pretrain.epochs=1 -s 'cases[0].records=60' -s 'cases[0].sensitivity.pairs=1' -s 'cases[0].protect[0].batch=20' -s 'cases[0].protect[1].batch=20' \
    -s 'cases[1].records=60' -s 'cases[1].head.epochs=2' -s 'cases[1].sensitivity.pairs=1' -s pretrain.batch=64 \
    -s pretrain.dtype=f32 -s pretrain.backend=dnnl
  [ "$status" -eq 0 ]
  [[ "$output" == *"the synthetic set is used instead"* ]]
  grep -Eq '"synthetic": ?true' demo/report.json
}

# every_certificate_verifies FOLDER COUNT: each against the ledger of the folder
every_certificate_verifies() {
  local c count=0
  for c in "$1"/protected/*.certificate.json; do
    run "$SOTTO" verify "$c" --ledger "$1/ledger.jsonl"
    [ "$status" -eq 0 ] || { echo "$c: $output"; return 1; }
    [[ "$output" == *"ledger's chain is whole and holds this release"* ]]
    count=$((count + 1))
  done
  [ "$count" -eq "$2" ]
}

@test "every certificate of the demo verifies against its ledger: one chain for its data set" {
  env SOTTO_FASHION_MNIST=/dev/null "$SOTTO" demo -o demo -s data.public=256 -s data.private=120 -s data.heldout=100 \
    -s pretrain.epochs=1 -s 'cases[0].records=60' -s 'cases[0].sensitivity.pairs=1' -s 'cases[0].protect[0].batch=20' -s 'cases[0].protect[1].batch=20' \
    -s 'cases[1].records=60' -s 'cases[1].head.epochs=2' -s 'cases[1].sensitivity.pairs=1' -s pretrain.batch=64
  every_certificate_verifies demo 7
  run "$SOTTO" verify demo/protected/mlp-500-p1.safetensors
  [[ "$output" == *"consistent, NOT signed"* ]]
  [[ "$output" == *"conditional  only if all of this is true: One unit of privacy changes the values by no more than the largest change that was seen in sampled pairs."* ]]
  [[ "$output" == *"measured     the sensitivity, over sampled pairs"* ]]
  [[ "$output" != *verified* ]]
  run "$SOTTO" verify demo/protected/linear-10000-p1.safetensors --ledger demo/ledger.jsonl
  [[ "$output" == *"proved       sensitivity and account"* ]]
}

@test "a sweep with an attacker: measured, reported, reused, never released" {
  cat > sweep.yaml <<'Y'
name: sweep
data: {set: synthetic-images-n600, public: 64, private: 60, heldout: 100, shadow: 80}
pretrain: {epochs: 1, batch: 32, dtype: f32, backend: dnnl}
encoder: {evaluate: false}
cases:
  - name: one
    records: 60
    head: {epochs: 2}
    sensitivity: {pairs: 3}
    shadow: {heads: 4}
    sweep: {mechanisms: [logistic, logistic-l2, gaussian-classical], epsilons: [1, 20], scales: [0.1]}
  - name: two
    records: 40
    head: {epochs: 1}
attack: {names: [loss]}
evaluate: {draws: 3}
Y
  run "$SOTTO" run sweep.yaml
  [ "$status" -eq 0 ]
  grep -q 'shadow-network' runs/sweep/attacks/one.json
  grep -q '"lira"' runs/sweep/attacks/one.json
  run -1 grep -q '"lira"' runs/sweep/attacks/two.json
  grep -q 'data-chart="sweep-trade"' runs/sweep/report.html
  grep -q 'not private at the target' runs/sweep/report.html
  [ ! -e runs/sweep/ledgers ]
  before=$(sha256sum runs/sweep/run.json)
  "$SOTTO" run sweep.yaml
  [ "$before" = "$(sha256sum runs/sweep/run.json)" ]
}

@test "workers share one folder: the report has the same bytes as without them, and a release is the merging run's alone" {
  export SOURCE_DATE_EPOCH=1767225600 # else a report says when, and how long it took
  cat > shared.yaml <<'Y'
name: shared
data: {set: synthetic-images-n600, public: 64, private: 60, heldout: 60, shadow: 40}
pretrain: {epochs: 1, batch: 32, dtype: f32, backend: dnnl}
encoder: {evaluate: false}
cases:
  - name: one
    head: {epochs: 1}
    records: 60
    sensitivity: {pairs: 70}
    shadow: {heads: 8}
    sweep: {mechanisms: [logistic, laplace], epsilons: [1]}
  - name: two
    records: 40
    head: {epochs: 1, hidden: [8]}
    shadow: {heads: 8}
    protect: [{mechanism: logistic, epsilon: 2, delta: 1.0e-5}]
    sensitivity: {pairs: 2}
attack: {names: [loss]}
evaluate: {draws: 2}
Y
  mkdir serial shared
  (cd serial && "$SOTTO" run ../shared.yaml --threads 1 --insecure-noise-seed 3) || return 1
  cd shared
  for i in 1 2 3; do
    "$SOTTO" run ../shared.yaml --threads 1 --insecure-noise-seed 3 --worker > worker$i.txt 2>&1 &
    pids[i]=$!
  done
  kill -9 "${pids[2]}" || true # at any moment
  for i in 1 3; do wait "${pids[i]}"; done
  wait "${pids[2]}" || true
  [ ! -e runs/shared/report.html ]
  [ ! -e runs/shared/run.json ]
  [ ! -e runs/shared/protected ]
  [ -z "$(find . -name '*ledger*')" ]
  [ ! -e "$XDG_DATA_HOME" ]
  [ "$(find runs/shared/tasks/shadow -name '*.safetensors' | wc -l)" -eq 16 ]
  [ "$(find runs/shared/tasks/pairs -name '*.safetensors' | wc -l)" -eq 3 ]
  run "$SOTTO" run ../shared.yaml --threads 1 --insecure-noise-seed 3
  [ "$status" -eq 0 ]
  [[ "$output" != *" trained, "* ]] # no shadow model was left for it
  cd ..
  for f in report.json report.html models shadow attacks splits embeddings; do
    diff -r "serial/runs/shared/$f" "shared/runs/shared/$f"
  done
  cd shared # later workers find nothing to do, and no other experiment gets in
  run "$SOTTO" run ../shared.yaml --threads 1 --shard 1/2
  [ "$status" -eq 0 ]
  [[ "$output" == *"runs/shared: nothing is left for a worker"* ]]
  run "$SOTTO" run ../shared.yaml -s seed=2 --worker
  [ "$status" -eq 78 ]
  [[ "$output" == *"config.resolved.yaml: states another experiment than this configuration"* ]]
  run "$SOTTO" run ../shared.yaml --worker --fresh
  [ "$status" -eq 64 ]
  run "$SOTTO" run ../shared.yaml --worker --shard 1/2
  [ "$status" -eq 64 ]
}

@test "parts of a run: each trains its shadow models, and the run merges them" {
  cat > parts.yaml <<'Y'
name: parts
data: {set: synthetic-images-n600, public: 32, private: 40, heldout: 40}
pretrain: {epochs: 1, batch: 16, dtype: f32, backend: dnnl}
encoder: {evaluate: false}
head: {epochs: 1, hidden: [8]}
shadow: {heads: 6}
sensitivity: {pairs: 70}
attack: {names: [loss]}
evaluate: {draws: 0}
Y
  run "$SOTTO" run parts.yaml --threads 1 --plan
  [ "$status" -eq 0 ]
  [[ "$output" == *"shadow/head "*" 6 "*" 0 "*"hours are predicted when embeddings and heads are done"* ]]
  [ ! -e runs/parts/models ]
  "$SOTTO" run parts.yaml --threads 1 --shard 1/3
  run "$SOTTO" run parts.yaml --threads 1 --plan --json
  [[ "$output" == *'"stage":"pretrain","done":true,'*'"missing":4,"seconds_each":'*'"hours":{"1":'*'"tasks":6}]}' ]]
  [ "$(find runs/parts/tasks/shadow -name '*.json' | wc -l)" -eq 2 ]
  [[ "$output" == *'"stage":"sensitivity/head","done":true,"tasks":2}'* ]]
  rm runs/parts/models/head.sensitivity.json "$(find runs/parts/tasks/pairs -name '*.safetensors' | sort | head -n 1)"
  run "$SOTTO" run parts.yaml --threads 1 --plan --json
  [[ "$output" == *'"stage":"sensitivity/head","done":false,"tasks":2,"missing":1,"seconds_each":'* ]]
  [ "$(find runs/parts/tasks/pairs -name '*.safetensors' | wc -l)" -eq 1 ]
  SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=3 "$SOTTO" run parts.yaml --threads 1 --shard auto
  [ "$(find runs/parts/tasks/shadow -name '*.json' | wc -l)" -eq 4 ]
  run "$SOTTO" run parts.yaml --threads 1
  [ "$status" -eq 0 ]
  [[ "$output" == *"shadow models: 2 trained, 4 from the cache, 0 missing"* ]]
}

@test "bad sweeps and shadow heads are refused" {
  run "$SOTTO" run small.yaml -s shadow.heads=5
  [ "$status" -eq 78 ]
  [[ "$output" == *"shadow.heads is 5; expected 0 or an even number >= 4" ]]
  run "$SOTTO" run small.yaml -s 'sweep.epsilons=[1]'
  [ "$status" -eq 78 ]
  [[ "$output" == *"sweep.epsilons needs a sensitivity; expected sensitivity.pairs > 0" ]]
  run "$SOTTO" run small.yaml -s 'sweep.mechanisms=[noise]'
  [ "$status" -eq 78 ]
  [[ "$output" == *"sweep.mechanisms[0] is 'noise'; expected one of logistic, logistic-l2, laplace, gaussian, gaussian-classical, knorm" ]]
}

@test "a convex head is released with a proof" {
  cat > proved.yaml <<'Y'
name: proved
data: {set: synthetic-images-n600, public: 64, private: 100, heldout: 100}
pretrain: {epochs: 1, batch: 32, dtype: f32, backend: dnnl}
encoder: {evaluate: false}
head: {trainer: convex, lambda: 0.1, steps: 20}
sensitivity: {pairs: 3}
protect:
  - {mechanism: logistic, epsilon: 2, delta: 1.0e-5}
attack: {names: [loss]}
evaluate: {draws: 0}
Y
  run "$SOTTO" run proved.yaml
  [ "$status" -eq 0 ]
  grep -q '"source": "proved"' runs/proved/protected/head-p1.safetensors.certificate.json
  grep -Eq '"proved": ?\{' runs/proved/report.json
  # The page: what is proved heads it, its unit stands by it, and both settings have the accuracy of each class.
  grep -q '<h1 data-verdict>Proved for 1 of 2 settings: ' runs/proved/report.html
  grep -q 'Unit of privacy: one record' runs/proved/report.html
  [ "$(grep -o '>class [0-9]*: ' runs/proved/report.html | wc -l)" -eq 2 ]
  "$SOTTO" account --verify runs/proved/protected/head-p1.safetensors.certificate.json
}

@test "read_from_data: the release is conditional, and made anew when the list changes" {
  cat > read.yaml <<'Y'
name: read
data: {set: synthetic-images-n600, public: 64, private: 100, heldout: 100}
pretrain: {epochs: 1, batch: 32, dtype: f32, backend: dnnl}
encoder: {evaluate: false}
head: {trainer: convex, lambda: 0.1, steps: 20}
protect:
  - {mechanism: logistic, epsilon: 2, delta: 1.0e-5, read_from_data: [clip]}
attack: {names: [loss]}
evaluate: {draws: 0}
Y
  certificate=runs/read/protected/head-p1.safetensors.certificate.json
  "$SOTTO" run read.yaml
  grep -q 'clip, which was read from the private data' "$certificate"
  run -1 grep -Eq '"proved": ?\{' runs/read/report.json
  sha256sum "$certificate" > first
  "$SOTTO" run read.yaml
  sha256sum -c first
  "$SOTTO" run read.yaml -s 'protect[0].read_from_data=[clip, lambda]'
  grep -q 'lambda, which was read from the private data' "$(ls -td runs/read* | head -1)/protected/head-p1.safetensors.certificate.json"
  run "$SOTTO" run read.yaml -o other -s 'protect[0].read_from_data=[a, b, c, d, e, f, g, h, i]'
  [ "$status" -eq 78 ]
  [[ "$output" == *"read_from_data has 9 entries; expected at most 8"* ]]
}

@test "a fine-tuned case: measured, marked as unprotected, reused, never released" {
  cat > tuned.yaml <<'Y'
name: tuned
data: {set: synthetic-images-n600, public: 64, private: 60, heldout: 100, shadow: 40}
pretrain: {epochs: 1, batch: 32, dtype: f32, backend: dnnl}
encoder: {evaluate: false}
cases:
  - {name: frozen, records: 60, head: {epochs: 2}}
  - {name: tuned, records: 40, head: {fine_tune: true, epochs: 2, batch: 20}}
attack: {names: [loss]}
Y
  run "$SOTTO" run tuned.yaml
  [ "$status" -eq 0 ]
  grep -q 'tuned (encoder fine-tuned too: no statement)' runs/tuned/report.html
  grep -q '<span class="none">no statement</span>' runs/tuned/report.html
  grep -Eq '"statement": ?"none"' runs/tuned/report.json
  [ -s runs/tuned/attacks/tuned.json ]
  before=$(sha256sum runs/tuned/run.json)
  "$SOTTO" run tuned.yaml
  [ "$before" = "$(sha256sum runs/tuned/run.json)" ]
  run "$SOTTO" protect --head runs/tuned/models/tuned.safetensors --scale 1 --l1 1 --dataset-id x -o p.safetensors
  [ "$status" -eq 65 ]
  [[ "$output" == *"cannot be protected ('no privacy statement'), because its encoder was trained on private records, which noise on these weights does not protect"* ]]
  [ ! -e p.safetensors ]
}

@test "a convex head by batches is released with a proof" {
  cat > batches.yaml <<'Y'
name: batches
data: {set: synthetic-images-n600, public: 64, private: 100, heldout: 100}
pretrain: {epochs: 1, batch: 32, dtype: f32, backend: dnnl}
encoder: {evaluate: false}
head: {trainer: convex-sgd, lambda: 0.1, epochs: 2, batch: 20, step_size: 0.2}
protect:
  - {mechanism: logistic, epsilon: 2, delta: 1.0e-5}
attack: {names: [loss]}
evaluate: {draws: 0}
Y
  run "$SOTTO" run batches.yaml
  [ "$status" -eq 0 ]
  grep -q '"source": "proved"' runs/batches/protected/head-p1.safetensors.certificate.json
  "$SOTTO" account --verify runs/batches/protected/head-p1.safetensors.certificate.json
}
