#!/usr/bin/env bats
# shards: 3
# head, sensitivity, predict: results, messages, exit codes, nothing half-written. Arrays are made with printf, so that
# the test needs nothing but a shell.

bats_require_minimum_version 1.5.0
load ../support/npy

# f8 N: the small whole number N (|N| <= 7) as little-endian float64
f8() {
  case $1 in
    0) printf '\0\0\0\0\0\0\0\0' ;; 1) printf '\0\0\0\0\0\0\xf0\x3f' ;; 2) printf '\0\0\0\0\0\0\0\x40' ;;
    3) printf '\0\0\0\0\0\0\x08\x40' ;; -1) printf '\0\0\0\0\0\0\xf0\xbf' ;; nan) printf '\0\0\0\0\0\0\xf8\x7f' ;;
  esac
}
u1() { for v; do printf "\\x$(printf %02x "$v")"; done; }

setup() {
  dir=$(mktemp -d)
  cd "$dir"
  # 12 records of 2 columns: class 0 near (0, 2), class 1 near (2, 0)
  for i in 0 1 2 3 4 5; do f8 0; f8 2; f8 2; f8 $((i % 3 - 1)); done | npy X.npy '<f8' '12, 2'
  u1 0 1 0 1 0 1 0 1 0 1 0 1 | npy y.npy '|u1' '12,'
}
teardown() { rm -rf "$dir"; }

fit() { plain --epochs 50 --lr 0.05 "$@"; }
plain() { "$SOTTO" head --features X.npy --labels y.npy $classes -o h.safetensors "$@"; } # $classes: of a private trainer

# refused CODE TEXT COMMAND...: that exit code, exactly one line with that text, and no new file
refused() {
  local code=$1 text=$2 before after
  shift 2
  before=$(ls)
  run "$@"
  after=$(ls)
  echo "exit $status: $output"
  [ "$status" -eq "$code" ]
  [ "${#lines[@]}" -eq 1 ]
  [[ "$output" == "sotto: error: "*"$text"* ]]
  [ "$before" = "$after" ]
}

@test "a head learns, is reproducible and answers queries" {
  run fit
  [ "$status" -eq 0 ]
  [[ "$output" == *"6 parameters, trained on 12 records of 2 classes, training accuracy 1.0000 (who always answers class 0: 0.5000)"* ]]
  cp h.safetensors first.safetensors
  fit --threads 2
  cmp h.safetensors first.safetensors
  run "$SOTTO" predict --head h.safetensors --features X.npy -o p.npy
  [ "$status" -eq 0 ]
  [ "$output" = "p.npy: probabilities of 12 records, 2 classes" ]
  run "$SOTTO" predict --head h.safetensors --features X.npy --logits -o l.npy --json
  [ "$output" = '{"schema": "sotto.predict/1", "kind": "logits", "records": 12, "classes": 2}' ]
  run -1 cmp -s p.npy l.npy
}

@test "another seed gives another head; an MLP has more parameters" {
  fit
  cp h.safetensors first.safetensors
  fit --seed 2
  run -1 cmp -s h.safetensors first.safetensors
  run fit --hidden 4,3 --json
  [[ "$output" == *'"parameters": 35,'* ]]
}

@test "rows are selected by --indices" {
  u1 0 1 2 3 | npy rows.npy '|u1' '4,'
  run fit --indices rows.npy
  [[ "$output" == *"trained on 4 records"* ]]
}

@test "sensitivity: from the head, from options, as JSON, for any number of threads" {
  fit
  "$SOTTO" sensitivity --head h.safetensors --features X.npy --labels y.npy --pairs 5 -o a.json --threads 1
  "$SOTTO" sensitivity --features X.npy --labels y.npy --epochs 50 --lr 0.05 --pairs 5 -o b.json --threads 2
  cmp <(grep -v sampled_on a.json) b.json  # options name no head whose private data it could be
  run "$SOTTO" sensitivity --head h.safetensors --features X.npy --labels y.npy --pairs 5 -o c.json
  [[ "$output" == *"empirical sensitivity over 5 replace-one pairs (evidence, not differential privacy)"* ]]
  [[ "$output" == *"own private data"* ]]
  run "$SOTTO" sensitivity --head h.safetensors --features X.npy --labels y.npy --pairs 5 -o c.json --json
  [[ "$output" == '{"schema":"sotto.sensitivity/1",'*'"pairs":5,"gamma":{"dkw":'*'"recipe_hash":"'*'"data_fingerprint":"'* ]]
}

@test "missing options are usage errors" {
  refused 64 "--features" "$SOTTO" head --labels y.npy -o h.safetensors
  refused 64 "--labels" "$SOTTO" head --features X.npy -o h.safetensors
  refused 64 "--output" "$SOTTO" head --features X.npy --labels y.npy
  refused 64 "--pairs" "$SOTTO" sensitivity --features X.npy --labels y.npy -o s.json
  refused 64 "--head" "$SOTTO" predict --features X.npy -o p.npy
  fit
  refused 64 "cannot be combined with --epochs" "$SOTTO" sensitivity --head h.safetensors --epochs 3 --features X.npy --labels y.npy --pairs 2 -o s.json
}

@test "missing and unwritable files" {
  refused 66 "nowhere.npy" "$SOTTO" head --features nowhere.npy --labels y.npy -o h.safetensors
  refused 66 "nowhere.safetensors" "$SOTTO" predict --head nowhere.safetensors --features X.npy -o p.npy
  refused 73 "no/such/folder" "$SOTTO" head --features X.npy --labels y.npy -o no/such/folder/h.safetensors
}

@test "bad recipes" {
  refused 65 "epochs must be at least 1 and at most 4294967295 (got 0)" plain --epochs 0
  refused 65 "batch must be at least 1 (got 0)" plain --batch 0
  refused 65 "lr must be at least 0 and at most 1000 (got -1)" plain --lr -1
  refused 65 "trainer 'adamw' is unknown; expected adam, sgd, convex, convex-sgd, convex-lbfgs, dp-sgd, dp-adam, dp-gd, objective, covariance, functional, functional-linear or taylor" plain --trainer adamw
  refused 64 "hidden" plain --hidden 4,x
  for i in {1..12}; do echo "${i}e36,3e37"; done > big.csv
  refused 65 "head: a weight became infinite or NaN in epoch" "$SOTTO" head --features big.csv --labels y.npy --trainer sgd \
    --lr 1000 --hidden 3 -o h.safetensors
}

@test "bad features and labels" {
  for i in 0 1 2 3 4 5 6 7 8 9 10; do f8 1; f8 2; done | npy short.npy '<f8' '11, 2'
  refused 65 "short.npy has 11 rows but y.npy has 12 labels" "$SOTTO" head --features short.npy --labels y.npy -o h.safetensors
  { for i in 0 1 2 3 4 5 6 7 8 9 10; do f8 1; f8 2; done; f8 1; f8 nan; } | npy nan.npy '<f8' '12, 2'
  refused 65 "nan.npy: 1 of 12 rows contain NaN (first: row 11, column 1); features must be finite" \
    "$SOTTO" head --features nan.npy --labels y.npy -o h.safetensors
  for i in 0 1 2 3 4 5 6 7 8 9 10 11; do f8 1; f8 2; done | npy same.npy '<f8' '12, 2'
  refused 65 "rows are the same; expected at least two different rows" "$SOTTO" head --features same.npy --labels y.npy -o h.safetensors
  u1 1 1 1 1 1 1 1 1 1 1 1 1 | npy one.npy '|u1' '12,'
  refused 65 "labels: all 12 records have class 1" "$SOTTO" head --features X.npy --labels one.npy -o h.safetensors
  u1 0 1 0 1 0 1 0 1 0 1 0 99 | npy far.npy '|u1' '12,'
  refused 65 "100 classes (largest label + 1, or --classes) but only 12 records" \
    "$SOTTO" head --features X.npy --labels far.npy -o h.safetensors
  refused 65 "--classes 1 allows 0 to 0" fit --classes 1
  for i in 0 1 2 3 4 5 0 1 2 3 4; do f8 1; done | npy flat.npy '<f8' '11,'
  refused 65 "flat.npy: has 1 dimensions; expected 2" "$SOTTO" head --features flat.npy --labels y.npy -o h.safetensors
  u1 0 12 | npy rows.npy '|u1' '2,'
  refused 65 "rows.npy: entry 1 is 12; X.npy has rows 0 to 11" fit --indices rows.npy
}

@test "pairs beyond the distinct ones, heads without a recipe, heads of another width" {
  refused 65 "67 pairs of 12 records are too many; only 66 distinct pairs exist" \
    "$SOTTO" sensitivity --features X.npy --labels y.npy --pairs 67 -o s.json
  refused 65 "pairs must be at least 1" "$SOTTO" sensitivity --features X.npy --labels y.npy --pairs 0 -o s.json
  fit
  for i in 0 1 2 3 4 5 6 7 8 9 10 11; do f8 1; f8 2; f8 $((i % 3)); done | npy wide.npy '<f8' '12, 3'
  refused 65 "wide.npy has 3 columns but h.safetensors expects 2" \
    "$SOTTO" predict --head h.safetensors --features wide.npy -o p.npy
  refused 65 "wide.npy has 3 columns" \
    "$SOTTO" sensitivity --head h.safetensors --features wide.npy --labels y.npy --pairs 2 -o s.json
}

@test "damaged heads" {
  fit
  head -c 200 h.safetensors > cut.safetensors
  refused 65 "cut.safetensors" "$SOTTO" predict --head cut.safetensors --features X.npy -o p.npy
  refused 65 "X.npy" "$SOTTO" predict --head X.npy --features X.npy -o p.npy
}

@test "an interrupted run says so and leaves nothing behind" {
  # enough epochs to be caught in the middle
  "$SOTTO" head --features X.npy --labels y.npy --hidden 512,512 --epochs 4000000 --batch 1 -o slow.safetensors 2> log &
  pid=$!
  for _ in $(seq 400); do grep -q '^SigCgt:.*[2367abef]$' "/proc/$pid/status" && break; sleep 0.05; done # until it listens to SIGINT
  sleep 0.2
  kill -INT $pid || kill -TERM $pid
  code=0
  wait $pid || code=$?
  [ "$code" -eq 130 ] || [ "$code" -eq 143 ]
  [ ! -e slow.safetensors ]
  grep -q "stopped in epoch" log
}

@test "predict: what contradicts" {
  fit
  refused 64 "either --features" "$SOTTO" predict --head h.safetensors -o p.npy
  refused 64 "either --features" "$SOTTO" predict --head h.safetensors --features X.npy --data X.npy:y.npy -o p.npy
  refused 64 "predict: --encoder and --data must be given together" "$SOTTO" predict --head h.safetensors --encoder h.safetensors -o p.npy
  refused 64 "predict: --indices and --split choose rows of --data; omit them with --features" "$SOTTO" predict --head h.safetensors --features X.npy --split test -o p.npy
}

@test "predict refuses images through another encoder than the head's" {
  u1 1 2 3 > encoder.safetensors
  plain --encoder encoder.safetensors
  u1 1 2 4 > encoder.safetensors
  refused 65 "was trained on embeddings of another encoder" \
    "$SOTTO" predict --head h.safetensors --encoder encoder.safetensors --data synthetic-images -o p.npy
}

@test "predict through an encoder equals embedding first" {
  u1 $(seq 0 39) | npy rows.npy '|u1' '40,'
  "$SOTTO" pretrain --data synthetic-images-n64 --indices rows.npy --epochs 1 --batch 20 --dtype f32 --backend dnnl --threads 2 -o encoder.safetensors --quiet
  "$SOTTO" embed --encoder encoder.safetensors --data synthetic-images-n64 --indices rows.npy -o E.npy --labels-out L.npy
  "$SOTTO" head --features E.npy --labels L.npy --encoder encoder.safetensors -o h.safetensors
  "$SOTTO" predict --head h.safetensors --features E.npy -o first.npy
  "$SOTTO" predict --head h.safetensors --encoder encoder.safetensors --data synthetic-images-n64 --indices rows.npy -o p.npy
  cmp p.npy first.npy
}

@test "convex trainers: a proved sensitivity, and releases that count as proved" {
  classes="--classes 2"
  plain --trainer convex --steps 50
  run "$SOTTO" sensitivity --head h.safetensors -o proved.json
  [ "$status" -eq 0 ]
  [[ "$output" == *"proved sensitivity for replacing one of 12 records"* ]]
  for mechanism in logistic gaussian laplace; do
    XDG_DATA_HOME=$dir "$SOTTO" protect --head h.safetensors --sensitivity proved.json --mechanism $mechanism --epsilon 1 --delta 1e-3 -o p.safetensors --dataset-id toy
    grep -q '"source": "proved"' p.safetensors.certificate.json
    grep -q '"conditional": null' p.safetensors.certificate.json
  done
  run "$SOTTO" account --verify p.safetensors.certificate.json
  [ "$status" -eq 0 ]
  [[ "$output" == *"proved       sensitivity and account"*"derived again from the file's recipe and 12 records"* ]]
  # without --sensitivity the head brings its own
  XDG_DATA_HOME=$dir "$SOTTO" protect --head h.safetensors --mechanism knorm --epsilon 1 -o p.safetensors --dataset-id toy
  grep -q '"source": "proved"' p.safetensors.certificate.json
  # the protected head still clips its queries
  "$SOTTO" predict --head p.safetensors --features X.npy -o p.npy
  # pure epsilon by l1
  XDG_DATA_HOME=$dir "$SOTTO" protect --head h.safetensors --sensitivity proved.json --epsilon 5 -o p.safetensors --dataset-id toy
  grep -q '"accountant": "pure"' p.safetensors.certificate.json
}

@test "convex trainers: a proof of another head or a forged one is refused" {
  classes="--classes 2"
  plain --trainer convex --steps 50
  "$SOTTO" sensitivity --head h.safetensors -o proved.json
  sed 's/"records": 12/"records": 12000/' proved.json > forged.json
  refused 65 "states a proof of l1" "$SOTTO" protect --head h.safetensors --sensitivity forged.json --epsilon 1 --delta 1e-3 -o p.safetensors --dataset-id toy
  plain --trainer convex --steps 51
  refused 65 "measured for another head (recipe hash differs)" \
    "$SOTTO" protect --head h.safetensors --sensitivity proved.json --epsilon 1 --delta 1e-3 -o p.safetensors --dataset-id toy
  refused 65 "is out of range; expected above 0 and at most 2 / (beta + lambda)" plain --trainer convex --step-size 3
  refused 65 "supports linear heads only (got" plain --trainer convex --hidden 4
  # a proof is of a head; its file binds weights, recipe and records to one another
  plain --trainer convex --steps 50
  "$SOTTO" sensitivity --head h.safetensors -o proved.json
  refused 64 "proves the sensitivity of a head; give that head by --head" \
    "$SOTTO" protect --vector h.safetensors --sensitivity proved.json --epsilon 1 --delta 1e-3 -o p.safetensors --dataset-id toy
  refused 65 "was made from 12 records, not from 13" \
    "$SOTTO" protect --head h.safetensors --records 13 --epsilon 1 --delta 1e-3 -o p.safetensors --dataset-id toy
  sed 's/"records":"12"/"records":"92"/' h.safetensors > forged.safetensors
  refused 65 "were changed after training" \
    "$SOTTO" protect --head forged.safetensors --epsilon 1 --delta 1e-3 -o p.safetensors --dataset-id toy
  classes= fit
  refused 64 "--pairs" "$SOTTO" sensitivity --head h.safetensors -o s.json
}

@test "dp trainers: charged, certified, and nothing else is said of the records" {
  export XDG_DATA_HOME=$dir classes="--classes 2"
  run plain --trainer dp-adam --batch 4 --lr 0.1 --epsilon 0.5 --delta 1e-3 --dataset-id toy
  echo "$output"
  [ "$status" -eq 0 ]
  [[ "$output" == *"differentially private under replace-one adjacency (epsilon "*" under zero-out)"* ]]
  [[ "$output" != *"accuracy"* ]]
  run "$SOTTO" account --verify h.safetensors.certificate.json --ledger sotto/ledger/toy.jsonl
  [ "$status" -eq 0 ]
  run "$SOTTO" inspect h.safetensors
  [[ "$output" == *'"noise":"gaussian"'* ]]
  [[ "$output" != *fingerprint* ]]
  "$SOTTO" predict --head h.safetensors --features X.npy -o p.npy
  run plain --trainer dp-sgd --adjacency replace-one --batch 4 --epsilon 0.5 --delta 1e-3 --dataset-id toy
  [[ "$output" == *"(0.5, 0.001)-differentially private under replace-one adjacency"* ]]
  run "$SOTTO" account --verify h.safetensors.certificate.json --ledger sotto/ledger/toy.jsonl
  [ "$status" -eq 0 ]
  run plain --trainer dp-sgd --noise logistic --batch 4 --noise-multiplier 4 --dataset-id toy --insecure-noise-seed 3 --json
  [[ "$output" == *'"noise was seeded: no privacy guarantee"'* ]]
  rm -f h.safetensors*
  refused 64 "exactly one of --noise-multiplier, --epsilon, --max-tpr and --max-advantage" plain --trainer dp-sgd
  refused 64 "head: --noise-multiplier needs a trainer with noise (dp-sgd, covariance, ...); trainer" plain --noise-multiplier 1
  refused 65 "adds private noise, so its runs differ and each is charged; expected a repeatable trainer, such as adam or convex" "$SOTTO" sensitivity --features X.npy --labels y.npy --trainer dp-sgd --pairs 2 -o s.json
  refused 65 "the expected size of a sample, is larger than the 12 records" plain --trainer dp-sgd --batch 13 --epsilon 1 --dataset-id toy
  refused 77 "budget" plain --trainer dp-sgd --batch 4 --noise-multiplier 30 --dataset-id toy --budget-epsilon 0.1 --budget-delta 1e-5
}

@test "balance: in the recipe, and refused before anything is charged" {
  export XDG_DATA_HOME=$dir/home classes="--classes 2"
  refused 65 "balance has 3 weights; expected one for each of the 2 classes" plain --trainer dp-gd --balance 1,4,2 --steps 20 --epsilon 2 --delta 1e-2 --dataset-id a
  refused 64 "list of whole numbers" plain --trainer dp-gd --balance 0,4 --steps 20 --epsilon 2 --delta 1e-2 --dataset-id a
  refused 65 "balance cannot be given for trainer objective" plain --trainer objective --balance 1,4 --epsilon 2 --dataset-id a
  [ ! -e home ]
  for trainer in dp-gd dp-sgd; do
    steps=$([ $trainer = dp-gd ] && echo "--steps 20" || echo "--epochs 5 --batch 4")
    plain --trainer $trainer --balance 1,4 $steps --epsilon 2 --delta 1e-2 --dataset-id b$trainer --ledger $trainer.jsonl
    "$SOTTO" inspect h.safetensors | grep -qF '"balance":[1,4]'
    "$SOTTO" verify h.safetensors --ledger $trainer.jsonl
    python3 "$BATS_TEST_DIRNAME/../../verifier/sotto-verify.py" h.safetensors --ledger $trainer.jsonl
    rm h.safetensors*
  done
}

@test "noise for a risk: every trainer with noise keeps it, and says so" {
  export XDG_DATA_HOME=$dir classes="--classes 2"
  for trainer in "dp-adam --batch 4" "dp-gd --delta 1e-3" "objective" "covariance" "taylor"; do
    run plain --trainer $trainer --max-tpr 0.02@0.01 --dataset-id toy
    [ "$status" -eq 0 ] || { echo "$trainer: $output"; false; }
    [[ "${lines[-1]}" == "any test of membership: true-positive rate at most 0.02 at false-positive rate 0.01" ]] || { echo "$trainer: $output"; false; }
    "$SOTTO" account --verify h.safetensors.certificate.json --ledger sotto/ledger/toy.jsonl
  done
  run plain --trainer dp-adam --batch 4 --max-advantage 0.2 --noise-multiplier 2 --dataset-id toy
  [ "$status" -eq 64 ]
  [[ "$output" == *"head: give exactly one of --noise-multiplier, --epsilon, --max-tpr and --max-advantage"* ]]
  run plain --trainer convex --max-advantage 0.2
  [ "$status" -eq 64 ]
  [[ "$output" == *"head: --max-advantage needs a trainer with noise (dp-sgd, covariance, ...); trainer convex adds none"* ]]
}

@test "heads from one noisy release: certified, and larger records are scaled in silence" {
  export XDG_DATA_HOME=$dir classes="--classes 2"
  for trainer in covariance functional functional-linear taylor; do
    run plain --trainer $trainer --clip 2 --epsilon 2 --delta 1e-3 --dataset-id moments
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *"differentially private under replace-one adjacency"* ]]
    [[ "$output" != *"accuracy"* ]]
    run "$SOTTO" account --verify h.safetensors.certificate.json --ledger sotto/ledger/moments.jsonl
    [ "$status" -eq 0 ]
  done
  grep -q '"mechanism": "laplace"' h.safetensors.certificate.json # taylor's own
  run "$SOTTO" inspect h.safetensors
  [[ "$output" == *'"trainer":"taylor"'* ]]
  [[ "$output" != *fingerprint* ]]
  "$SOTTO" predict --head h.safetensors --features X.npy --labels y.npy > accuracy.txt
  rm -f h.safetensors*
  run plain --trainer covariance --epsilon 2 --delta 1e-3 --dataset-id moments # norms of 2, and --clip is 1
  [ "$status" -eq 0 ]
  [[ "$("$SOTTO" inspect h.safetensors)" == *'"clip":1,'*'"refuse_larger":0'* ]]
  rm -f h.safetensors*
  refused 64 "--batch makes no difference to trainer dp-gd; expected --trainer, --hidden, --balance, --seed, --augment-noise, --clip, --steps, --step-size, --noise, --noise-multiplier, --max-grad-norm" plain --trainer dp-gd --batch 5 --epsilon 2
  refused 64 "head: trainer dp-gd uses all records at once; --sampling needs --trainer dp-sgd or dp-adam" plain --trainer dp-gd --sampling fixed --epsilon 2
  for trainer in adam sgd dp-sgd dp-adam; do
    refused 64 "--clip makes no difference to trainer $trainer; expected " plain --trainer $trainer --clip 2
  done
  refused 64 "--epochs makes no difference to trainer convex; expected " plain --trainer convex --epochs 2
  refused 64 "--momentum makes no difference to trainer functional; expected " plain --trainer functional --momentum 0.5 --clip 2 --epsilon 2
  refused 64 "--adjacency add-remove: this trainer supports replace-one only (DP-SGD with --sampling poisson supports both)" plain --trainer taylor --adjacency add-remove --epsilon 2
  refused 64 "--adjacency must be replace-one, add-remove or zero-out (got 'both')" plain --trainer dp-sgd --adjacency both --epsilon 2
  refused 65 "supports linear heads only (got" plain --trainer functional --hidden 3 --clip 2 --epsilon 2 --dataset-id moments
  refused 64 "head: --cross-weight needs a trainer with noise (dp-sgd, covariance, ...); trainer" plain --cross-weight 2
}

@test "noise is exact: the same bits for any threads, and there is no other mode" {
  export XDG_DATA_HOME=$dir classes="--classes 2"
  run plain --trainer dp-sgd --batch 4 --epsilon 0.5 --delta 1e-3 --dataset-id exact
  echo "$output"
  [ "$status" -eq 0 ]
  grep -q '"lattice_exponent":-' sotto/ledger/exact.jsonl
  "$SOTTO" account --verify h.safetensors.certificate.json --ledger sotto/ledger/exact.jsonl
  for threads in 1 2; do
    run plain --trainer dp-sgd --batch 4 --noise-multiplier 9 --dataset-id exact --insecure-noise-seed 3 --threads $threads
    [[ "$output" == *"noise was seeded: no privacy guarantee"* ]]
    mv h.safetensors $threads.safetensors
  done
  cmp 1.safetensors 2.safetensors
  rm -f h.safetensors*
  for mode in exact fast; do
    refused 64 "--noise-mode was removed: all noise is exact now; leave it out" plain --trainer dp-sgd --noise-multiplier 1 --noise-mode $mode
  done
}

@test "private and convex trainers: classes are public and given, a row counts once" {
  export XDG_DATA_HOME=$dir
  for trainer in dp-sgd dp-adam dp-gd objective covariance functional functional-linear taylor convex convex-sgd convex-lbfgs; do
    refused 64 "head: trainer $trainer needs public classes, which it does not derive from the labels; give --classes K, or --classes FILE with one name a line" plain --trainer $trainer
  done
  u1 3 1 4 1 5 | npy twice.npy '|u1' '5,'
  printf 'cat\ndog\nbird\n' > names.txt
  classes="--classes names.txt"
  for trainer in covariance dp-sgd convex; do
    options=(--trainer $trainer)
    [ $trainer = convex ] || options+=(--dataset-id once --noise-multiplier 1)
    refused 65 "twice.npy: row 1 is listed twice (entries 1 and 3); expected each record once" plain "${options[@]}" --indices twice.npy
  done
  [ ! -e sotto/ledger/once.jsonl ]
  plain --trainer covariance --noise-multiplier 1 --dataset-id once
  [[ "$("$SOTTO" inspect h.safetensors)" == *"0.bias  f4 (3,)"* ]]
  grep -A 2 '"classes": {' h.safetensors.certificate.json | grep -q '"given_by": "--classes"'
  plain --trainer convex
  "$SOTTO" protect --head h.safetensors --epsilon 1 --delta 1e-3 -o p.safetensors --dataset-id toy
  grep -A 2 '"classes": {' p.safetensors.certificate.json | grep -q '"count": 3'
  classes= # a list that is none
  rm -f h.safetensors* p.safetensors*
  printf 'cat\n\ndog\n' > bad.txt
  refused 65 "bad.txt: line 2 is empty; expected one class name a line" plain --trainer convex --classes bad.txt
  printf 'cat\ndog\r\ncat\n' > bad.txt
  refused 65 "bad.txt: 'cat' is listed twice (lines 1 and 3); expected every class once" plain --trainer convex --classes bad.txt
  refused 66 "--classes: cannot open none.txt" plain --trainer convex --classes none.txt
  refused 64 "--classes: 0; expected 1 to 1048576" plain --trainer convex --classes 0
  refused 65 "at least 2 classes (got 1)" plain --trainer convex --classes 1
}

@test "private trainers: classes and source rows come from the side file" {
  export XDG_DATA_HOME=$dir
  side() { # ROWS: X.npy holds these rows of the set survey
    printf '{"schema": "sotto.provenance/1", "sha256": "%s", "dataset_id": "", "set": "", "records": 12, "encoding": "none", "classes": 2, "classes_by": "schema.yaml", "class_names": ["no", "yes"], "rows": [%s]}' \
      "$(sha256sum X.npy | cut -d ' ' -f 1)" "$1" > X.npy.provenance.json
  }
  side "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11"
  plain --trainer convex
  plain --trainer covariance --noise-multiplier 1 --dataset-id toy
  grep -A 2 '"classes": {' h.safetensors.certificate.json | grep -q '"given_by": "schema.yaml"'
  # by name: the other way round is another numbering of the same classes, so the head's rows change places
  printf 'yes\nno\n' > names.txt
  plain --trainer convex
  "$SOTTO" predict --head h.safetensors --features X.npy -o p.npy
  plain --trainer convex --classes names.txt
  "$SOTTO" predict --head h.safetensors --features X.npy -o q.npy
  run -1 cmp -s p.npy q.npy
  rm -f h.safetensors*
  side "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 3"
  for trainer in convex "covariance --noise-multiplier 1 --dataset-id twice"; do
    refused 65 "provenance: row 3 is listed twice (entries 3 and 11); expected each record once" plain --trainer $trainer
  done
  [ ! -e sotto/ledger/twice.jsonl ]
  u1 0 1 2 11 | npy some.npy '|u1' '4,'
  plain --trainer convex --indices some.npy # the other one is not there
}
