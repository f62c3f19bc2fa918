#!/usr/bin/env bats
# Hints of head, predict, train, protect, account, certificate, verify and ledger, followed: each row is an error that offers a way out, a
# command that provokes it, and the command that takes the offer and passes. Hints about tables: hints.bats.
# 83 of about 240 texts of tests/golden/errors.txt that name something to give, use or omit, in the files of these verbs, of src/core/dp, of
# src/learn/head and of src/learn/train.
# label: landing
# shards: 2

bats_require_minimum_version 1.5.0

setup_file() {
  cd "$BATS_FILE_TMPDIR" || exit
  export XDG_DATA_HOME=$PWD/xdg SOTTO_DATA_DIR=$PWD/data
  python3 -c 'import struct
def npy(name, descr, shape, data):
    header = "{%r: %r, %r: False, %r: %r, }" % ("descr", descr, "fortran_order", "shape", shape)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    open(name, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)
npy("x.npy", "<f4", (24, 3), struct.pack("<72f", *((i * i % 11) / 11 for i in range(72))))
npy("wide.npy", "<f4", (24, 256), struct.pack("<6144f", *((i * i % 11) / 11 for i in range(6144))))
npy("y.npy", "|u1", (24,), bytes(i % 2 for i in range(24)))
npy("y1.npy", "|u1", (24,), bytes(1 + i % 3 for i in range(24)))
npy("v.npy", "<f4", (4,), struct.pack("<4f", 1, 2, 3, 4))
npy("t.npy", "<f4", (40, 1), struct.pack("<40f", *(i % 7 / 7 for i in range(40))))
npy("g.npy", "|u1", (40, 2), bytes(i % 3 for i in range(80)))
npy("c.npy", "|b1", (40,), bytes(i % 2 for i in range(40)))
npy("rows.npy", "<i8", (8,), struct.pack("<8q", *range(8)))'
  "$SOTTO" head --features x.npy --labels y.npy -o head.safetensors --quiet > said
  "$SOTTO" head --features x.npy --labels y.npy --classes 2 --trainer convex -o convex.safetensors --quiet > said
  "$SOTTO" train --data synthetic-images-n56 --model tanh-small --batch 16 --epochs 1 -o net.safetensors --quiet > said
  "$SOTTO" protect --vector v.npy --mechanism laplace --l1 1 --epsilon 1 --dataset-id made -o made.npy --quiet > said
  "$SOTTO" key new -o office.key > said
  "$SOTTO" ledger init --dataset-id kept --budget 3,1e-5 --ledger kept.jsonl > said
  printf '%s\n' 'schema: sotto.events/1' 'adjacency: replace-one' 'events:' '  - {mechanism: laplace, scale: 4, l1: 1, dimension: 4}' > events.yaml
}
setup() {
  cd "$BATS_FILE_TMPDIR" || exit
  errors=$BATS_TEST_DIRNAME/../golden/errors.txt
}

# row TEMPLATE COMMAND FOLLOWED...: COMMAND fails with the error that begins like TEMPLATE, a text of tests/golden/errors.txt; each FOLLOWED
# passes. Every row has ledgers of its own.
row() {
  local pattern
  grep -qF -- "$1" "$errors" || { echo "no such text: $1"; return 1; }
  pattern=$(sed -E 's/[][().*+?^$|\\]/\\&/g; s/%[-0-9]*(\\\.|\\\*|[0-9])*(zu|zd|llu|lld|[sdgxu])/.*/g; s/\{[^}]*\}/--[a-z0-9-]+[^;]*/g; s/[{}]/./g' <<< "$1")
  export XDG_DATA_HOME=$BATS_TEST_TMPDIR/$((++rows))
  eval "run \"\$SOTTO\" $2 --quiet"
  [ "$status" -ne 0 ] || { echo "passes: $2"; return 1; }
  [[ $output =~ $pattern ]] || { echo "$2: $output; expected $pattern"; return 1; }
  for followed in "${@:3}"; do
    eval "run \"\$SOTTO\" $followed --quiet"
    [ "$status" -eq 0 ] || { echo "$1: followed by: $followed: $output"; return 1; }
  done
}

@test "head" {
  local h="head --features x.npy --labels y.npy -o h.safetensors" d="head --features x.npy --labels y.npy --classes 2 --dataset-id d --batch 8 -o d.safetensors --fresh"
  local whole=${d/--batch 8/}
  row "%s: labels run from 1 to %lld; expected labels from 0: give --labels-from 1" "${h/y.npy/y1.npy}" "${h/y.npy/y1.npy} --labels-from 1"
  row "%s: row %zu has label %lld; --labels-from %lld allows %lld and above" "$h --labels-from 1" "$h --labels-from 0"
  row "%s: contains class %lld; --classes %zu allows 0 to %zu" "$h --classes 1" "$h --classes 2"
  row "head: trainer %s needs public classes, which it does not derive from the labels; give --classes K" "${d/--classes 2/} --trainer dp-sgd --epsilon 3" "$d --trainer dp-sgd --epsilon 3"
  row "%s: %s has no identity (made elsewhere, opened by its path, or imported by version 1), so no ledger can be charged" "${d/--dataset-id d/} --trainer dp-sgd --epsilon 3" "$d --trainer dp-sgd --epsilon 3"
  row "%s: give exactly one of --%s, --epsilon, --max-tpr and --max-advantage" "$d --trainer dp-sgd" "$d --trainer dp-sgd --epsilon 3" "$d --trainer dp-sgd --max-tpr 0.2@0.01" "$d --trainer dp-sgd --noise-multiplier 4"
  row "%s: --budget-delta needs --budget-epsilon" "$d --trainer dp-sgd --epsilon 3 --budget-delta 1e-3" "$d --trainer dp-sgd --epsilon 3 --budget-delta 1e-2 --budget-epsilon 4"
  row "%s: --ledger-move needs the new path of the ledger; give --ledger FILE" "$d --trainer dp-sgd --epsilon 3 --ledger-move" "$d --trainer dp-sgd --epsilon 3 --ledger-move --ledger moved1.jsonl"
  row "--canary-kind and --canary-public need --canaries K" "$h --canary-kind random" "$h --canary-kind random --canaries 4"
  row "--batch: %s is out of range; expected at most %zu, the number of records" "$h --batch 25" "$h --batch 24"
  row "head: --epsilon at --delta 0 needs a trainer with pure epsilon; trainer %s adds no noise; give --trainer objective" "$whole --trainer convex --epsilon 3 --delta 0" "$whole --trainer objective --epsilon 3 --delta 0"
  row "head: trainer %s uses all records at once; --sampling needs --trainer dp-sgd or dp-adam" "$whole --trainer dp-gd --epsilon 3 --sampling fixed" "$d --trainer dp-adam --epsilon 3 --sampling fixed"
  row "--adjacency %s: this trainer supports replace-one only" "$d --trainer dp-sgd --epsilon 3 --sampling fixed --adjacency zero-out" "$d --trainer dp-sgd --epsilon 3 --adjacency zero-out"
  row "--output %s is also the input --%s; give another file to write" "${h/-o h.safetensors/-o x.npy}" "$h"
  row "%s: is a ledger, and its charges would be lost; give another file to write" "${h/-o h.safetensors/-o kept.jsonl}" "$h"
  row "%s: --%s is missing; see 'sotto %s --help'" "head --features x.npy -o h.safetensors" "$h"
  row "unknown option '%s'; expected a long option such as --help" "$h -x" "head --help"
  row "--threads is %llu; expected 1 to %d" "$h --threads 100000" "$h --threads 2"
}

@test "predict" {
  local p="predict --head head.safetensors -o p.npy" features="--features x.npy" data="--data synthetic-images-n56"
  row "predict: give either --features X.npy, or --encoder FILE with --data SET" "$p" "$p $features"
  row "predict: --encoder and --data must be given together" "$p $data" "$p $features"
  row "predict: --encoding and --answers need --table" "$p $features --answers a.csv" "$p $features"
  row "predict: --indices and --split choose rows of --data; omit them with --features" "$p $features --indices rows.npy" "$p $features"
  row "predict: --model is a whole network and cannot be combined with --head or --encoder" "$p --model net.safetensors $data" "predict --model net.safetensors $data -o p.npy"
  row "predict: give exactly one of --features X.npy and --data SET" "predict --model net.safetensors -o p.npy" "predict --model net.safetensors $data -o p.npy"
  row "--indices and --split both choose rows; give only one of them" "predict --model net.safetensors $data --indices rows.npy --split test -o p.npy" "predict --model net.safetensors $data --split test -o p.npy" "predict --model net.safetensors $data --indices rows.npy -o p.npy"
}

@test "train" {
  local t="train --data synthetic-images-n56 --model tanh-small --epochs 1 --batch 16 -o n.safetensors --fresh" p="--dp-sgd --epsilon 8"
  row "train: --%s needs --dp-sgd%s; plain training makes no certificate" "$t --epsilon 8" "$t $p"
  row "train: --dp-sgd and --certify-inputs cannot be combined; give one of them" "$t $p --certify-inputs" "$t $p"
  row "train: give --steps or --epochs, not both" "$t $p --steps 2" "${t/--epochs 1/} $p --steps 2"
  row "train: --ensemble 0; expected at least 1 member" "$t --ensemble 0" "$t --ensemble 1"
  row "--indices and --split both choose rows; give only one of them" "$t --indices rows.npy --split train" "$t --split train"
  row "--image: '%s' is not a shape; expected CHANNELS,HEIGHT,WIDTH such as 3,32,32" "$t --image 3" "train --data wide.npy:y.npy --model cnn --hidden 4,8 --batch 8 --image 1,16,16 --epochs 1 -o n.safetensors --fresh"
  row "model %s needs images, but the records are rows of %zu numbers; give {channels|image=C,H,W}, or model mlp" "train --data x.npy:y.npy --batch 8 --epochs 1 -o n.safetensors" "train --data x.npy:y.npy --model mlp --batch 8 --epochs 1 -o n.safetensors --fresh"
  row "views: %zu views without flip or crop are all the same; give flip or crop, or 1 view" "$t $p --views 2" "$t $p --views 2 --flip"
  row "metrics: private training writes no losses and accuracies, which would reveal records; omit metrics" "$t $p --metrics m.jsonl" "$t $p"
  row "snapshot_every: the certificate of DP-SGD is for the file of the last model; omit snapshot_every" "${t/--epochs 1/--epochs 2} $p --snapshot-every 1" "$t $p"
  row "train: --dp-sgd and --certify-inputs need an imported data set, as errors while reading %s could reveal its records; run 'sotto data import %s --name NAME' first" "train --data x.npy:y.npy --model mlp --classes 2 --batch 8 --epochs 1 --dp-sgd --epsilon 8 -o n.safetensors --fresh" "data import x.npy:y.npy --name rows" "train --data rows --model mlp --classes 2 --batch 8 --epochs 1 --dp-sgd --epsilon 8 -o n.safetensors --fresh"
  "$SOTTO" data import x.npy:y.npy --name derived --quiet > said
  row "data set '%s': its classes were derived from its records, so they are not public; give {classes=K}" "train --data derived --model mlp --batch 8 --epochs 1 --dp-sgd --epsilon 8 -o n.safetensors --fresh" "train --data derived --model mlp --classes 2 --batch 8 --epochs 1 --dp-sgd --epsilon 8 -o n.safetensors --fresh"
}

@test "protect" {
  local v="protect --vector v.npy --mechanism laplace --dataset-id d -o o.npy" t="protect --table t.npy --dataset-id d --epsilon 1 -o o.npy" r="protect --records x.npy --clip 1 --dataset-id d --delta 1e-5 -o o.npy"
  row "protect: give exactly one of --head, --vector, --table and --records X.npy" "protect --epsilon 1 -o o.npy" "$v --l1 1 --epsilon 1"
  row "protect: the sensitivity is missing; give --sensitivity FILE, --l1, --l2 or both norms" "$v --epsilon 1" "$v --epsilon 1 --l1 1" "$v --epsilon 1 --l1 1 --l2 1"
  row "%s: give exactly one of --%s, --epsilon, --max-tpr and --max-advantage" "$v --l1 1" "$v --l1 1 --epsilon 1" "$v --l1 1 --scale 2"
  row "mechanism '%s' gives no pure epsilon; give a delta > 0" "${v/laplace/gaussian} --l2 1 --epsilon 1" "${v/laplace/gaussian} --l2 1 --epsilon 1 --delta 1e-5"
  row "protect: --table and --statistic must be given together" "$t --mechanism laplace" "$t --mechanism laplace --statistic mean --range 0,1"
  row "--range: '%s' is not a range; expected LOW,HIGH such as 0,1" "$t --mechanism laplace --statistic mean --range 1" "$t --mechanism laplace --statistic mean --range 0,1"
  row "protect: --range, --cases and --blocks describe a --statistic" "$v --l1 1 --epsilon 1 --range 0,1" "$v --l1 1 --epsilon 1"
  row "protect: the sensitivity of a statistic is proved; omit {sensitivity.l1}" "$t --mechanism laplace --statistic mean --range 0,1 --l1 1" "$t --mechanism laplace --statistic mean --range 0,1"
  row "protect: the sensitivity of --statistic is proved; omit --sensitivity" "$t --mechanism laplace --statistic mean --range 0,1 --sensitivity s.json" "$t --mechanism laplace --statistic mean --range 0,1"
  row "protect: --sensitivity cannot be combined with --l1 or --l2; give only one of them" "$v --epsilon 1 --l1 1 --sensitivity s.json" "$v --epsilon 1 --l1 1"
  row "protect: the statistic 'median' and the mechanism 'smooth-median' belong together; give both" "$t --statistic median --range 0,1" "$t --statistic median --mechanism smooth-median --range 0,1"
  row "protect: mechanism smooth-median releases the median of records; give {input|table|records}, {statistic=median} and {range}" "${v/laplace/smooth-median} --epsilon 1 --l1 1" "$t --statistic median --mechanism smooth-median --range 0,1"
  row "protect: {blocks} belongs to the median" "$t --mechanism laplace --statistic mean --range 0,1 --blocks 4" "$t --mechanism laplace --statistic mean --range 0,1"
  row "protect: {cases} belongs to a chi-square statistic, not to the mean" "$t --mechanism laplace --statistic mean --range 0,1 --cases c.npy" "$t --mechanism laplace --statistic mean --range 0,1"
  row "protect: a chi-square statistic compares cases with controls; give {cases}" "${t/t.npy/g.npy} --mechanism laplace --statistic chi-square-alleles" "${t/t.npy/g.npy} --mechanism laplace --statistic chi-square-alleles --cases c.npy"
  row "protect: {choices} belongs to permute-and-flip, not to %s" "$v --l1 1 --epsilon 1 --choices 2" "${v/laplace/permute-and-flip} --l1 1 --epsilon 1 --choices 2"
  row "protect: --labels needs --classes K, which is public and not derived from the labels" "$r --epsilon 9 --labels y.npy --label-epsilon 3" "$r --epsilon 9 --labels y.npy --label-epsilon 3 --classes 2"
  row "protect: --labels and --label-epsilon must be given together" "$r --epsilon 9 --labels y.npy --classes 2" "$r --epsilon 9 --labels y.npy --label-epsilon 3 --classes 2"
  row "the labels alone need epsilon %g of the target %g; give a larger target epsilon" "$r --epsilon 3 --labels y.npy --label-epsilon 3 --classes 2" "$r --epsilon 9 --labels y.npy --label-epsilon 3 --classes 2"
  row "%s: %s has no identity (made elsewhere, opened by its path, or imported by version 1), so no ledger can be charged" "protect --head convex.safetensors --epsilon 1 --delta 1e-5 -o o.safetensors" "protect --head convex.safetensors --epsilon 1 --delta 1e-5 -o o.safetensors --dataset-id d"
  row "%s: --sign: %s holds a public key alone; expected the secret one" "$v --l1 1 --epsilon 1 --sign office.key.pub" "$v --l1 1 --epsilon 1 --sign office.key"
}

@test "account" {
  local m="account --mechanism laplace" s="account --mechanism gaussian --sample-rate 0.01 --steps 10 --delta 1e-5"
  row "account: the sensitivity is missing; give --l1, --l2 or both" "$m --scale 2" "$m --scale 2 --l1 1"
  row "a pure epsilon (delta 0) needs the l1 sensitivity, but only l2 is given; give l1, or a delta > 0" "$m --l2 1 --epsilon 1" "$m --l1 1 --epsilon 1" "$m --l2 1 --dimension 4 --epsilon 1 --delta 1e-5"
  row "mechanism 'gaussian-classical': at delta %g the classical formula is not private from epsilon %.5g on (got %g); use 'gaussian'" "account --mechanism gaussian-classical --l2 1 --epsilon 9 --delta 1e-5" "account --mechanism gaussian --l2 1 --epsilon 9 --delta 1e-5"
  row "account: give exactly one of --scale and --epsilon" "$m --l1 1" "$m --l1 1 --scale 2" "$m --l1 1 --epsilon 1"
  row "account: give exactly one of --noise-multiplier and --epsilon" "$s" "$s --noise-multiplier 1" "$s --epsilon 1"
  row "account: --%s needs --sample-rate and --steps" "$m --l1 1 --scale 2 --clipping l1" "account --mechanism laplace --sample-rate 0.01 --steps 10 --noise-multiplier 2 --delta 1e-5 --clipping l1"
  row "account: --scale, --l1, --l2 and --compose cannot be combined with --sample-rate; give --noise-multiplier" "$s --scale 1 --noise-multiplier 1" "$s --noise-multiplier 1"
  row "account: --classes needs --mechanism randomised-response" "$m --l1 1 --scale 2 --classes 3" "account --mechanism randomised-response --l1 1 --epsilon 1 --classes 3"
  row "account: --any-order needs --events FILE" "$m --l1 1 --scale 2 --any-order" "account --events events.yaml --any-order --delta 1e-5"
  row "account: --choose compares all mechanisms; expected only --epsilon, --delta, --l1 and --l2 beside it" "$m --choose --epsilon 1 --l1 1" "account --choose --epsilon 1 --l1 1"
  row "account: give --events or --opacus-history, not both" "account --events events.yaml --opacus-history events.yaml --delta 1e-5" "account --events events.yaml --delta 1e-5"
  row "account: --rule %s needs --%s" "account --rule parallel --parts 1 --adjacency add-remove" "account --rule parallel --parts 1 --parts-by value --adjacency add-remove"
  row "account: --%s cannot be combined with --rule, which composes --parts" "account --rule parallel --parts 1 --parts-by value --adjacency add-remove --steps 2" "account --rule parallel --parts 1 --parts-by value --adjacency add-remove"
  row "--parts: '%s' is not a list of at most %d guarantees; expected for example '0.5,1e-6;1'" "account --rule parallel --parts x --parts-by value --adjacency add-remove" "account --rule parallel --parts '0.5,1e-6;1' --parts-by value --adjacency add-remove"
  row "mechanism '%s' gives no pure epsilon; give a delta > 0" "account --mechanism gaussian --l2 1 --epsilon 1" "account --mechanism gaussian --l2 1 --epsilon 1 --delta 1e-5"
  row "under replace-one adjacency only Gaussian noise on Poisson samples has a certified account; give add-remove adjacency, or omit {certified}" "${s/gaussian/laplace} --clipping l1 --noise-multiplier 2 --adjacency replace-one --certified" "${s/gaussian/laplace} --clipping l1 --noise-multiplier 2 --adjacency replace-one"
  row "sampled iterations have no certified account of persons; omit {certified}" "$s --noise-multiplier 4 --rows-per-person 2 --certified" "$s --noise-multiplier 4 --rows-per-person 2"
  row "fixed sampling needs replace-one adjacency; give replace-one, or poisson sampling" "$s --noise-multiplier 2 --sampling fixed --adjacency add-remove" "$s --noise-multiplier 2 --sampling fixed --adjacency replace-one" "$s --noise-multiplier 2 --adjacency add-remove"
}

@test "certificate and verify" {
  row "certificate: the page has no JSON form; use 'sotto verify --json'" "certificate made.npy --json" "verify made.npy --json"
  row "--prior: '%s' is not a probability; expected a number in (0, 1), such as 0.001" "certificate made.npy --prior 2" "certificate made.npy --prior 0.001"
  row "%s: is not signed; --trust needs a signature" "verify made.npy --trust office.key.pub" "protect --vector v.npy --mechanism laplace --l1 1 --epsilon 1 --dataset-id signed --sign office.key -o signed.npy" "verify signed.npy --trust office.key.pub"
  "$SOTTO" key new -o other.key > said
  row "%s: is signed by key %s, which --trust does not name" "verify signed.npy --trust other.key.pub" "verify signed.npy --trust office.key.pub"
}

@test "ledger" {
  local i="ledger init --dataset-id d --ledger l.jsonl"
  row "ledger %s: --%s is an option of 'ledger %s'; omit it" "$i --budget 3 --html" "$i --budget 3"
  row "ledger %s: --budget: '%s' is not a budget; expected EPSILON or EPSILON,DELTA" "$i --budget x" "$i --budget 3"
  row "ledger init: --column: '%s' is no column; expected E:D:SHARE such as 0.6:1e-7:1" "${i/l.jsonl/c.jsonl} --budget 3,1e-5 --column 1" "${i/l.jsonl/c.jsonl} --budget 3,1e-5 --column 0.6:1e-7:1"
  row "ledger show: --output is for the page; add --html" "ledger show kept.jsonl -o k.html" "ledger show kept.jsonl --html -o k.html"
  row "ledger show: give exactly one of FILE and --dataset-id" "ledger show" "ledger show kept.jsonl"
  row "ledger show: the page has no JSON form; omit --html or --json" "ledger show kept.jsonl --html --json" "ledger show kept.jsonl --json" "ledger show kept.jsonl --html -o k.html"
  row "ledger plan: expected one file of events (schema sotto.events/1, as of 'sotto account --events')" "ledger plan --dataset-id d --delta 1e-6" "ledger plan events.yaml --dataset-id d --delta 1e-6"
}
