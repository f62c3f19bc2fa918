#!/usr/bin/env bats
# shards: 3
# What is charged, and when: outputs are held before, failures after it name the charge, interrupted runs continue.

setup_file() {
  cd "$BATS_FILE_TMPDIR" || exit 1
  "$SOTTO" data split synthetic-blobs-d20-k2-n400 --parts all=400 -o set --quiet
  mv set/all-features.npy X.npy # alone: arrays without identity
  mv set/all-labels.npy y.npy
  { printf '\x93NUMPY\x01\x00v\x00%-117s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }"; printf '\0\0\0\0\0\0\xf0\x3f%.0s' 1 2 3; } > v.npy
}
setup() {
  dir=$BATS_TEST_TMPDIR
  cd "$dir" || exit 1
  export XDG_DATA_HOME="$dir/home"
  cp -r "$BATS_FILE_TMPDIR"/{set,X.npy,y.npy,v.npy} .
  head=("$SOTTO" head --features X.npy --labels y.npy --classes 2 --trainer dp-sgd --batch 40 --quiet --dataset-id toy)
}

ledger="home/sotto/ledger/toy.jsonl"
charges() { [ -e "$ledger" ] && grep -c -e '"event":"reserve"' -e '"event":"release"' "$ledger" || echo 0; }

@test "an output that cannot be written charges nothing" {
  mkdir taken
  for target in nodir/h.safetensors taken; do
    run "${head[@]}" --epsilon 0.3 -o $target
    [ "$status" -eq 73 ]
    run "$SOTTO" head --features X.npy --labels y.npy --classes 2 --trainer covariance --clip 4 --epsilon 1 --quiet --dataset-id toy -o $target
    [ "$status" -eq 73 ]
  done
  run "$SOTTO" protect --vector v.npy --mechanism laplace --l1 1 --epsilon 1 --dataset-id toy -o nodir/v.npy
  [ "$status" -eq 73 ]
  run "$SOTTO" train --data synthetic-images-n64 --hidden 4,8 --batch 16 --dp-sgd --epsilon 0.3 --ledger train.jsonl -o nodir/m.safetensors --quiet
  [ "$status" -eq 73 ]
  [ "$(charges)" -eq 0 ]
  [ ! -e train.jsonl ]
}

@test "an output that is also read is refused" {
  cp X.npy kept.npy
  run "${head[@]}" --epsilon 0.3 -o X.npy
  [ "$status" -eq 64 ]
  [[ "$output" == *"--output X.npy is also the input --features"* ]]
  ln y.npy other-name.npy
  run "${head[@]}" --epsilon 0.3 -o other-name.npy
  [ "$status" -eq 64 ]
  run "$SOTTO" protect --vector v.npy --mechanism laplace --l1 1 --epsilon 1 --dataset-id toy -o v.npy
  [ "$status" -eq 64 ]
  cmp X.npy kept.npy
  [ "$(charges)" -eq 0 ]
}

@test "the ledger of the data set, and a device, are not written over" {
  run "${head[@]}" --epsilon 0.3 -o h.safetensors
  [ "$status" -eq 0 ]
  cp $ledger kept
  mkfifo pipe.npy
  for target in $ledger pipe.npy; do
    run "${head[@]}" --epsilon 0.3 -o $target
    [ "$status" -eq 73 ]
    run "$SOTTO" head --features X.npy --labels y.npy --classes 2 --trainer covariance --clip 4 --epsilon 1 --quiet --dataset-id toy -o $target
    [ "$status" -eq 73 ]
    run "$SOTTO" protect --vector v.npy --mechanism laplace --l1 1 --epsilon 1 --dataset-id toy -o $target
    [ "$status" -eq 73 ]
    run "$SOTTO" train --data X.npy:y.npy --model mlp --hidden 4 --epochs 1 -o $target --quiet
    [ "$status" -eq 73 ]
    run "$SOTTO" predict --head h.safetensors --features X.npy -o $target
    [ "$status" -eq 73 ]
  done
  run "$SOTTO" certificate h.safetensors --html -o $ledger
  [ "$status" -eq 73 ]
  [[ "$output" == *"is a ledger, and its charges would be lost; give another file to write"* ]]
  run "$SOTTO" train --data X.npy:y.npy --model mlp --hidden 4 --epochs 1 --metrics $ledger -o m.safetensors --quiet
  [ "$status" -eq 73 ]
  cmp $ledger kept
  [ -p pipe.npy ]
}

# Labels are an entry of their own, before that of the inputs, and both are one charge.
@test "labels are not charged where their inputs are refused, and one budget holds for both" {
  train=("$SOTTO" train --data synthetic-images-n64 --hidden 4,8 --batch 16 --epochs 1 --certify-inputs --radius 5 --epsilon 8 --label-epsilon 2 --quiet -o m.safetensors)
  records=("$SOTTO" protect --records X.npy --labels y.npy --classes 2 --clip 1 --epsilon 8 --label-epsilon 2 --quiet --dataset-id toy -o noisy.npy)
  run "${train[@]}" --budget-epsilon 5 --ledger train.jsonl
  [ "$status" -eq 77 ]
  [ ! -s train.jsonl ]
  run "${records[@]}" --budget-epsilon 5
  [ "$status" -eq 77 ]
  [ ! -s "$ledger" ]
  "${train[@]}" --budget-epsilon 8 --ledger train.jsonl
  "${records[@]}" --budget-epsilon 8
  [ "$(charges)" -eq 2 ]
}

@test "private bounds of a table: outputs are held before the charge, and failures after it name the charge" {
  printf 'age,pay,ill\n' > t.csv
  for i in $(seq 40); do echo "$((20 + i)),$((1000 + 40 * i)),$((i % 2))" >> t.csv; done
  printf 'schema: sotto.schema/1\ncolumns:\n  - {name: age, type: number, bounds: [0, 200]}\n  - {name: pay, type: number, bounds: [0, 100000]}\n  - {name: ill, type: label, classes: ["0", "1"]}\n' > t.yaml
  "$SOTTO" data import t.csv --name t --schema t.yaml --dataset-id toy --person none
  fit=("$SOTTO" data split t --parts all=40 --one-hot --private-fit 2 --quiet)
  for name in encoding.json all-features.npy all-labels.npy all-rows.npy; do
    mkdir -p "no-$name/$name"
    run "${fit[@]}" -o "no-$name"
    [ "$status" -eq 73 ]
    [ "${#lines[@]}" -eq 1 ]
  done
  [ "$(charges)" -eq 0 ]
  mkdir -p late/all-features.npy.provenance.json
  run "${fit[@]}" -o late
  [ "$status" -eq 73 ]
  [[ "$output" == *"hint: epsilon 2 of --private-fit was charged, and its bounds are lost; another split is charged again" ]]
  [ "$(charges)" -eq 4 ]
  "${fit[@]}" -o set2
  [ "$(charges)" -eq 8 ]
}

# Files may not grow beyond 512 KiB here: the outputs fit, with room, and the checkpoints do not.
small() { (trap '' XFSZ; ulimit -f 512; exec "$@"); }

@test "a checkpoint that cannot be written charges nothing" {
  run small "${head[@]}" --epsilon 0.3 --hidden 2000 --epochs 1 -o h.safetensors
  [ "$status" -eq 74 ]
  [[ "$output" == *"h.safetensors.checkpoint: no room for "*" bytes"* ]]
  run small "$SOTTO" train --data synthetic-blobs-d20-k2-n400 --model mlp --hidden 2000 --epochs 1 --batch 40 --dp-sgd --epsilon 0.3 --ledger train.jsonl --quiet -o m.safetensors
  [ "$status" -eq 74 ]
  [[ "$output" == *"m.safetensors.checkpoint: no room for "*" bytes"* ]]
  run small "$SOTTO" train --data synthetic-blobs-d20-k2-n400 --model mlp --hidden 2000 --epochs 1 --batch 40 --certify-inputs --radius 5 --epsilon 8 --label-epsilon 2 --ledger train.jsonl --quiet -o m.safetensors
  [ "$status" -eq 74 ]
  [[ "$output" == *"m.safetensors.checkpoint: no room for "*" bytes"* ]]
  [ "$(charges)" -eq 0 ]
  [ ! -e train.jsonl ]
  small "${head[@]}" --epsilon 0.3 --hidden 200 --epochs 1 -o h.safetensors # control
  [ "$(charges)" -eq 1 ]
}

@test "half of a certificate's page does not stay" {
  "${head[@]}" --epsilon 0.3 -o h.safetensors
  # The counters of make cov would be cut off too, and say so.
  GCOV_PREFIX=. GCOV_ERROR_FILE=/dev/null run bash -c "trap '' XFSZ; ulimit -f 1; exec '$SOTTO' certificate h.safetensors --html -o c.html"
  [ "$status" -eq 74 ]
  [[ "$output" == *"c.html: cannot be written: File too large" ]]
  [ ! -e c.html ]
  run "$SOTTO" certificate h.safetensors --html -o nodir/c.html
  [ "$status" -eq 73 ]
  [[ "$output" == *"nodir/c.html: cannot be created: No such file or directory" ]]
}

@test "a run whose checkpoint is gone does not say that it continues" {
  mkdir kept
  "${head[@]}" --noise-multiplier 40 --epochs 100000 -o kept/h.safetensors 2> stopped.txt &
  pid=$!
  for _ in $(seq 400); do [ "$(charges)" -eq 1 ] && break; sleep 0.05; done
  rm -r kept
  kill -INT $pid
  wait $pid || code=$?
  cat stopped.txt
  [ "$code" -eq 73 ]
  grep -q "was charged: charge [0-9]* of the ledger; a new run is charged again" stopped.txt
}

@test "an interrupted head states what was charged, and the same command continues" {
  long=("${head[@]}" --noise-multiplier 40 --epochs 100000 -o h.safetensors)
  "${long[@]}" 2> stopped.txt &
  pid=$!
  for _ in $(seq 400); do [ "$(charges)" -eq 1 ] && break; sleep 0.05; done
  sleep 0.3
  kill -INT $pid
  wait $pid || code=$?
  [ "$code" -eq 130 ]
  cat stopped.txt
  grep -q "was charged: charge [0-9]* of the ledger; the same command continues" stopped.txt
  [ -s h.safetensors.checkpoint ]
  [ "$(stat -c %a h.safetensors.checkpoint)" = 600 ]
  run "${head[@]}" --noise-multiplier 41 --epochs 100000 -o h.safetensors
  [ "$status" -eq 65 ]
  [[ "$output" == *"another recipe, noise or shape"* ]]
  [ "$(charges)" -eq 1 ]
  "${long[@]}" 2> again.txt &
  pid=$!
  for _ in $(seq 400); do [ "$(charges)" -eq 2 ] && break; sleep 0.05; done
  kill -INT $pid
  wait $pid || true
  [ "$(charges)" -eq 2 ]
  run=$(grep -o '"run":"[0-9a-f]*"' "$ledger" | sort -u | wc -l)
  [ "$run" -eq 1 ]
  [[ "$(grep -o '"first_step":[0-9]*' "$ledger" | tail -n 1)" == '"first_step":'[1-9]* ]]
  # a damaged file is refused before anything is charged
  truncate -s -8 h.safetensors.checkpoint
  short=("${head[@]}" --noise-multiplier 4 --epochs 20 -o h.safetensors)
  run "${short[@]}"
  [ "$status" -eq 65 ]
  [[ "$output" == *h.safetensors.checkpoint* && "$output" == *"--fresh starts again from step 0; what was charged stays charged"* ]]
  [ "$(charges)" -eq 2 ]
  "${short[@]}" --fresh
  [ "$(charges)" -eq 3 ]
}

@test "a finished head leaves no checkpoint; its certificate counts what was interrupted" {
  short=("${head[@]}" --noise-multiplier 4 --epochs 20 -o h.safetensors)
  "${short[@]}"
  [ ! -e h.safetensors.checkpoint ]
  "$SOTTO" account --verify h.safetensors.certificate.json --ledger "$ledger"
}

@test "a certificate never stays beside a file that it does not describe" {
  "$SOTTO" protect --vector v.npy --mechanism laplace --l1 1 --epsilon 1 --dataset-id toy -o out.npy
  "$SOTTO" data split synthetic-blobs-n20 --parts a=10 -o parts
  "$SOTTO" protect --vector v.npy --mechanism laplace --l1 1 --epsilon 1 --dataset-id toy -o out.npy
  "$SOTTO" account --verify out.npy.certificate.json
  "$SOTTO" head --features X.npy --labels y.npy --quiet -o h.safetensors
  "$SOTTO" predict --head h.safetensors --features X.npy --quiet -o out.npy
  [ ! -e out.npy.certificate.json ]
  [ -e out.npy.certificate.json.old ]
}

@test "a finished report is overwritten by --force only" {
  printf '0.9\n0.8\n0.7\n0.3\n' > m.csv; printf '0.1\n0.2\n0.4\n0.6\n' > n.csv
  "$SOTTO" audit --member-losses n.csv --nonmember-losses m.csv --quiet -o report > /dev/null
  cp report/report.html kept.html
  run "$SOTTO" audit --member-losses m.csv --nonmember-losses n.csv --quiet -o report
  [ "$status" -eq 73 ]
  [[ "$output" == *"already contains a finished report; give another --output, or --force to overwrite it"* ]]
  cmp report/report.html kept.html
  "$SOTTO" audit --member-losses m.csv --nonmember-losses n.csv --quiet -o report --force > /dev/null
}

# Which holder a lock names decides who waits: one of this machine that ended is gone for certain.
@test "on a shared file system LEDGER.lock stands beside the ledger; one that a killed process left is told, and never removed" {
  export SOTTO_LEDGER_LOCK=file # as if the file system were one of several machines
  convex=("$SOTTO" protect --vector v.npy --mechanism laplace --l1 1 --epsilon 1 --dataset-id toy -o p.npy --quiet)
  "${convex[@]}"
  [ "$(charges)" -eq 1 ]
  [ -z "$(find . -name '*.lock*' ! -name .lock)" ]
  true &
  gone=$!
  wait $gone
  printf '%s %s %s/%s %s\n' "$(hostname)" $gone "$(< /proc/sys/kernel/random/boot_id)" "$(readlink /proc/self/ns/pid)" "$(date -u +%Y-%m-%dT10:03:00Z)" > $ledger.lock
  cp $ledger.lock left
  for verb in protect head; do
    if [ $verb = protect ]; then run "${convex[@]}"; else run "${head[@]}" --epsilon 0.3 -o h.safetensors; fi
    [ "$status" -eq 75 ]
    [[ "${lines[0]}" == "sotto: error: $dir/$ledger: locked by $(hostname), process $gone since 10:03 UTC; if that process is gone, remove $dir/$ledger.lock" ]] || { echo "$output"; false; }
    [ ! -e h.safetensors ]
    cmp left $ledger.lock
  done
  "$SOTTO" ledger show --dataset-id toy > /dev/null # readers do not ask
  "$SOTTO" verify p.npy.certificate.json --ledger $ledger > /dev/null
  [ "$(charges)" -eq 1 ]
  rm $ledger.lock
  "${convex[@]}"
  [ "$(charges)" -eq 2 ]
}
