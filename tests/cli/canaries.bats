#!/usr/bin/env bats
# --canaries from the outside: coins, certificate, audit, forgeries, kill and resume, messages, exit codes.

setup() {
  dir=$(mktemp -d)
  cd "$dir"
  export XDG_DATA_HOME="$dir/home"
  # 200 records of 24 columns and 10 classes, and 30 public rows
  LC_ALL=C awk 'BEGIN { srand(1); for (i = 0; i < 230; i++) { line = ""; for (j = 0; j < 24; j++) line = line (j ? "," : "") (j == i % 10) + rand() - .5;
    if (i < 200) { print line > "x.csv"; print i % 10 > "y.csv" } else print line > "p.csv" } }'
  plain=(--features x.csv --labels y.csv --classes 10 --quiet)
  # noise 30: accounts of little noise take long, and no test is about their numbers
  unpaid=(head "${plain[@]}" --dataset-id toy --trainer dp-sgd --batch 40 --epochs 3 --lr 0.5 --noise-multiplier 30 --delta 1e-3)
  private=("${unpaid[@]}" --ledger l.jsonl)
}
teardown() { cd /; rm -rf "$dir"; }
audit() { "$SOTTO" audit --one-run 5 --delta 1e-3 --quiet "$@"; }
refused() { # code, text, command
  local code=$1 text=$2; shift 2
  run "$@"
  [ "$status" -eq "$code" ] || { echo "$status $output"; false; }
  [ "${#lines[@]}" -le 2 ]
  [[ "$output" == *"$text"* ]] || { echo "$output"; false; }
}

@test "one command trains with canaries, the next shows certificate and audit on one page" {
  "$SOTTO" "${private[@]}" --canaries 60 --canary-kind dirac --adjacency zero-out -o h.safetensors
  [ "$(stat -c %a h.safetensors.coins.json)" = 600 ]
  commitment=$(sed -n 's/.*"commitment": "\([0-9a-f]*\)".*/\1/p' h.safetensors.coins.json)
  grep -q "60 canaries (dirac, it or nothing), coins $commitment" h.safetensors.certificate.json
  grep -q "coins $commitment" l.jsonl
  tr -d ' \n' < h.safetensors.certificate.json | grep -q '"records":260,'
  if grep -q "$(sed -n 's/.*"coins": "\([01]*\)".*/\1/p' h.safetensors.coins.json)" h.safetensors.certificate.json l.jsonl; then false; fi
  "$SOTTO" verify h.safetensors.certificate.json --ledger l.jsonl
  audit --coin-file h.safetensors.coins.json --scores h.safetensors.canaries.npz:white_box --certificate h.safetensors --ledger l.jsonl -o a > /dev/null
  tr -d ' \n' < a/result.json | grep -q '"guesses":10'
  tr -d ' \n' < a/report.json | grep -q '"epsilon":{"lower":'
  [ -s h.safetensors.coins.json.opened ]
}

@test "every kind trains heads and networks, plain and private" {
  for kind in mislabelled random in-distribution clipbkd; do
    public=() ; [ $kind = clipbkd ] && public=(--canary-public p.csv)
    k=30; [ $kind = clipbkd ] && k=24 # as many as columns; the chance of fewer than 2 heads or tails is 3e-6
    for adjacency in zero-out replace-one; do
      "$SOTTO" "${private[@]}" --canaries $k --canary-kind $kind "${public[@]}" --adjacency $adjacency -o $kind-$adjacency
      audit --coin-file $kind-$adjacency.coins.json --scores $kind-$adjacency.canaries.npz:black_box > /dev/null
    done
    "$SOTTO" head "${plain[@]}" --epochs 3 --canaries $k --canary-kind $kind "${public[@]}" -o plain-$kind
    audit --coin-file plain-$kind.coins.json --scores plain-$kind.canaries.npz:black_box > /dev/null
  done
  "$SOTTO" head "${plain[@]}" --dataset-id toy --trainer covariance --noise-multiplier 2 --delta 1e-3 --ledger l.jsonl --canaries 30 -o moments
  network=(train --data synthetic-images-n64 --hidden 4,8 --batch 16 --epochs 1 --dtype f32 --backend dnnl --quiet)
  "$SOTTO" "${network[@]}" --canaries 20 -o plain.net
  "$SOTTO" "${network[@]}" --dp-sgd --noise-multiplier 30 --ledger n.jsonl --canaries 30 --canary-kind dirac -o dirac.net
  "$SOTTO" "${network[@]}" --dp-sgd --noise-multiplier 30 --ledger n.jsonl --canaries 30 --canary-kind random --adjacency zero-out -o random.net
  audit --coin-file dirac.net.coins.json --scores dirac.net.canaries.npz:white_box > /dev/null
  audit --coin-file random.net.coins.json --scores random.net.canaries.npz:black_box > /dev/null
}

@test "a plain head that learned its canaries by heart is found; one that never saw them is not" {
  "$SOTTO" head "${plain[@]}" --hidden 256 --epochs 400 --lr 0.01 --canaries 100 -o h
  "$SOTTO" audit --one-run 20 --coin-file h.coins.json --scores h.canaries.npz:black_box --json --quiet > a.json
  bound() { tr -d ' \n' < "$1" | sed 's/.*"epsilon_lower_bound":\([0-9.]*\).*/\1/'; }
  [ "$(bound a.json | cut -c1)" -ge 1 ]
  # the same canaries by other coins: the scores of that model know nothing of these (a bound of 1 has a chance below 1e-6)
  "$SOTTO" head "${plain[@]}" --hidden 256 --epochs 400 --lr 0.01 --canaries 100 -o other
  rm h.coins.json.opened
  "$SOTTO" audit --one-run 20 --coin-file h.coins.json --scores other.canaries.npz:black_box --json --quiet > b.json
  [ "$(bound b.json | cut -c1)" -eq 0 ]
}

@test "coins that were edited, swapped or opened before are refused" {
  "$SOTTO" "${private[@]}" --canaries 60 --canary-kind dirac -o h
  "$SOTTO" "${private[@]}" --canaries 60 --canary-kind dirac -o g
  scores=(--scores h.canaries.npz:white_box)
  cp h.coins.json kept
  sed -i 's/"coins": "\(..\)0/"coins": "\11/; t; s/"coins": "\(..\)1/"coins": "\10/' h.coins.json
  refused 65 "was edited" audit --coin-file h.coins.json "${scores[@]}"
  cp g.coins.json h.coins.json
  refused 65 "are not those that h.canaries.npz committed to" audit --coin-file h.coins.json "${scores[@]}"
  cp kept h.coins.json
  refused 65 "committed to" audit --coin-file h.coins.json "${scores[@]}" --certificate g.certificate.json -o a
  audit --coin-file h.coins.json "${scores[@]}" > /dev/null
  audit --coin-file h.coins.json "${scores[@]}" > /dev/null
  refused 65 "a second choice voids the level" "$SOTTO" audit --one-run 12 --coin-file h.coins.json "${scores[@]}" --quiet
  refused 65 "a second choice voids the level" audit --coin-file h.coins.json --scores g.canaries.npz:white_box
  refused 73 "coins are used once" "$SOTTO" "${private[@]}" --canaries 60 --canary-kind dirac -o h
  "$SOTTO" "${private[@]}" --canaries 60 --canary-kind dirac -o h --fresh
  if cmp -s kept h.coins.json; then false; fi
  [ ! -e h.coins.json.opened ]
}

@test "a killed training continues with its coins" {
  long=(train --data synthetic-images-n64 --hidden 4,8 --batch 16 --dtype f32 --backend dnnl --quiet --dp-sgd --noise-multiplier 30 --steps 300
    --ledger l.jsonl --canaries 40 --canary-kind dirac -o m)
  "$SOTTO" "${long[@]}" &
  pid=$!
  for _ in $(seq 400); do [ -s m.checkpoint ] && break; sleep 0.05; done
  kill -9 $pid
  wait $pid || true
  cp m.coins.json before
  refused 65 "other canaries or records" "$SOTTO" "${long[@]}" --seed 5
  "$SOTTO" "${long[@]}"
  cmp before m.coins.json
  [ ! -e m.canaries.state ]
  audit --coin-file m.coins.json --scores m.canaries.npz:white_box > /dev/null
}

@test "a stopped training with canaries does not go on with other records" {
  few=(train --data toy --model mlp --hidden 4 --batch 200 --steps 4 --reserve-steps 2 --dtype f32 --backend ref --quiet --dp-sgd --noise-multiplier 9 --delta 1e-3
    --ledger l.jsonl --canaries 20 --canary-kind dirac -o m)
  "$SOTTO" data import x.csv:y.csv --name toy --quiet > /dev/null
  refused 77 "would be exceeded" "$SOTTO" "${few[@]}" --classes 10 --budget-epsilon 0.9
  [ -s m.checkpoint ]
  sed -i '12s/^[^,]*,/50,/' x.csv
  export XDG_DATA_HOME=$dir/other
  "$SOTTO" data import x.csv:y.csv --name toy --quiet > /dev/null
  cp l.jsonl before
  refused 65 "data" "$SOTTO" "${few[@]}" --classes 10
  cmp before l.jsonl
}

@test "what is printed and how large files are does not depend on the coins" {
  for seed in 1 2 3; do
    XDG_DATA_HOME=$dir/home$seed "$SOTTO" "${unpaid[@]}" --canaries 40 --canary-kind mislabelled --adjacency zero-out --insecure-noise-seed $seed --ledger l$seed.jsonl --json -o h$seed |
      sed -E 's/[0-9a-f]{64}/HASH/g; s/[0-9a-f]{32}/RUN/g; s/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z/TIME/g' > out$seed
    wc -c < h$seed >> out$seed
    wc -c < h$seed.canaries.npz >> out$seed
  done
  cmp out1 out2
  cmp out1 out3
  grep -q "seeded coins" out1
  run audit --coin-file h1.coins.json --scores h1.canaries.npz:black_box
  [[ "$output" == *"the coins were drawn from a seed"* ]]
}

@test "what cannot be is refused in one line, and nothing is charged" {
  head=("$SOTTO" head "${plain[@]}")
  refused 64 "need --canaries K" "${head[@]}" --canary-kind random -o h
  refused 64 "--canary-kind must be mislabelled, random, dirac, clipbkd or in-distribution (got 'x')" "${head[@]}" --canaries 5 --canary-kind x -o h
  refused 64 "--canaries" "${head[@]}" --canaries -1 -o h
  refused 65 "expected 1 to 1000000" "${head[@]}" --canaries 1000001 -o h
  refused 65 "give fewer --canaries" "${head[@]}" --canaries 200 -o h
  refused 65 "clipped gradients" "${head[@]}" --canaries 5 --canary-kind dirac -o c
  refused 65 "need public rows; give --canary-public" "${head[@]}" --canaries 5 --canary-kind clipbkd -o h
  refused 65 "is for --canary-kind clipbkd" "${head[@]}" --canaries 5 --canary-public x.csv -o h
  refused 65 "expected at most one for each weight" "$SOTTO" "${private[@]}" --canaries 100000 --canary-kind dirac -o h
  refused 65 "no steps that clip them" "${head[@]}" --dataset-id toy --trainer covariance --epsilon 1 --ledger l.jsonl --canaries 5 --canary-kind dirac -o c
  refused 64 "cannot be combined with trainer convex" "${head[@]}" --trainer convex --canaries 5 -o h
  refused 64 "cannot be combined with --certify-inputs" "$SOTTO" train --data synthetic-images-n64 --certify-inputs --radius 1 --epsilon 1 --canaries 5 -o h --quiet
  mkdir k.canaries.npz # written at the end, so room is held for it before the charge
  refused 73 "k.canaries.npz: is a folder; expected a file name to write" "$SOTTO" "${private[@]}" --canaries 5 -o k
  refused 73 "k.canaries.npz: is a folder; expected a file name to write" "${head[@]}" --canaries 5 -o k
  [ ! -e k.coins.json ]
  [ ! -e h ]
  [ ! -e l.jsonl ]
  printf 1 > c.coins.json
  refused 64 "--coin-file needs the scores" audit --coin-file c.coins.json
  refused 64 "--coin-file needs --one-run K" "$SOTTO" audit --coin-file c.coins.json --scores y.csv
  refused 64 "give one of them" audit --coin-file c.coins.json --scores y.csv --membership y.csv
  refused 65 "c.coins.json" audit --coin-file c.coins.json --scores y.csv
  refused 65 "expected at most" "$SOTTO" audit --coin-file c.coins.json --scores y.csv --one-run 101
}

# Such a record has no class, so the observer of dirac canaries must not take its gradient either.
@test "a record that counts as nothing is in no score of an observer" {
  sed -i '12s/.*/12/' y.csv
  for v in a b; do
    [ $v = a ] || sed -i '12s/^[^,]*,[^,]*,/50,-20,/' x.csv
    seeded=(--classes 10 --noise-multiplier 30 --delta 1e-3 --insecure-noise-seed 4 --canaries 20 --canary-kind dirac --threads 1 --quiet)
    XDG_DATA_HOME=$dir/head-$v "$SOTTO" head --features x.csv --labels y.csv --dataset-id toy --trainer dp-sgd --batch 180 --epochs 3 "${seeded[@]}" --ledger h$v.jsonl -o h$v
    export XDG_DATA_HOME=$dir/network-$v
    "$SOTTO" data import x.csv:y.csv --name toy --quiet > /dev/null
    "$SOTTO" train --data toy --model mlp --hidden 4 --batch 180 --steps 4 --dtype f32 --backend ref --dp-sgd "${seeded[@]}" --ledger n$v.jsonl -o n$v
  done
  for f in h n; do
    cmp ${f}a.canaries.npz ${f}b.canaries.npz
    cmp ${f}a.coins.json ${f}b.coins.json
  done
}

@test "a canary that is not finite, or has no class, ends no training" {
  sed -i '12s/^[^,]*,/nan,/; 13s/^[^,]*,/1e300,/' x.csv
  sed -i '14s/.*/12/' y.csv
  few=(head "${plain[@]}" --dataset-id toy --trainer dp-sgd --lr 0.001 --batch 1 --epochs 1 --noise-multiplier 2 --delta 1e-3 --ledger l.jsonl)
  for adjacency in zero-out replace-one; do
    for kind in in-distribution mislabelled; do
      k=99; [ $adjacency-$kind != zero-out-in-distribution ] || k=199 # nearly all records are canaries
      [ $kind != mislabelled ] || k=199
      "$SOTTO" "${few[@]}" --canaries $k --canary-kind $kind --adjacency $adjacency -o $kind-$adjacency
    done
  done
  python3 -c 'import array, math, sys, zipfile
for name in sys.argv[1:]:
    data = zipfile.ZipFile(name).read("black_box.npy")
    s = array.array("d" if b"<f8" in data[:40] else "f", data[10 + data[8] + 256 * data[9]:])
    assert all(map(math.isfinite, s)) and s.count(0) < 5 < len(s) - s.count(0), (name, s)' {in-distribution,mislabelled}-{zero-out,replace-one}.canaries.npz
}
