#!/usr/bin/env bats
# shards: 2
# sotto attack and sotto data split: files, shards, resumed caches, messages, exit codes.

bats_require_minimum_version 1.5.0
load ../support/npy

setup_file() {
  export XDG_DATA_HOME="$BATS_FILE_TMPDIR/data"
  cd "$BATS_FILE_TMPDIR" || return 1
  "$SOTTO" data split synthetic-blobs-d8-k4-n900 --parts member=100,nonmember=100,attacker=600 -o b
  "$SOTTO" data split synthetic-purchase-d40-k3-n400 --parts other=300 -o p
  "$SOTTO" head --features b/member-features.npy --labels b/member-labels.npy --hidden 32 --epochs 60 --batch 20 -o t.safetensors
}

setup() { cd "$BATS_FILE_TMPDIR" || return 1; }

attack() {
  local name=$1
  shift
  "$SOTTO" attack "$name" --target "${target:-t}.safetensors" --member-features b/member-features.npy --member-labels b/member-labels.npy \
    --nonmember-features b/nonmember-features.npy --nonmember-labels b/nonmember-labels.npy "$@"
}
own() { attack "$@" --attacker-features b/attacker-features.npy --attacker-labels b/attacker-labels.npy; }

# refused CODE TEXT COMMAND...: that exit code, exactly one error line with that text, and no new file
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

@test "split: disjoint parts of the sizes that were asked for, same seed same bytes" {
  [[ "$("$SOTTO" inspect b/attacker-features.npy)" == *"600"* ]]
  "$SOTTO" data split synthetic-blobs-d8-k4-n900 --parts member=100,nonmember=100,attacker=600 -o again
  cmp b/attacker-rows.npy again/attacker-rows.npy
  cmp b/member-features.npy again/member-features.npy
  "$SOTTO" data split synthetic-blobs-d8-k4-n900 --parts member=100,nonmember=100,attacker=600 --seed 2 -o other
  run -1 cmp -s b/member-rows.npy other/member-rows.npy
}

@test "split: bad parts are named" {
  refused 65 "split: the parts need 1000 records; synthetic-blobs-d8-k4-n900 has 900" "$SOTTO" data split synthetic-blobs-d8-k4-n900 --parts a=500,b=500 -o no
  refused 64 "--parts: 'b' is not a list" "$SOTTO" data split synthetic-blobs-n20 --parts a=5,b -o no
  refused 65 "split: part 'a' is given twice" "$SOTTO" data split synthetic-blobs-n20 --parts a=5,a=6 -o no
  refused 65 "split: part name 'A' is not allowed; expected a-z 0-9 _ -" "$SOTTO" data split synthetic-blobs-n20 --parts A=5 -o no
  refused 65 "one-hot needs a table with described columns; import it as CSV first" "$SOTTO" data split synthetic-blobs-n20 --parts a=5 --one-hot -o no
  refused 64 "--output" "$SOTTO" data split synthetic-blobs-n20 --parts a=5
  refused 64 "--parts is only an option of 'data split'" "$SOTTO" data info synthetic-blobs --parts a=5
}

@test "split: one-hot tables" {
  printf 'age,job,label\n20,a,x\n40,b,y\n60,?,x\n20,a,y\n' > t.csv
  "$SOTTO" data import t.csv --name jobs
  "$SOTTO" data split jobs --parts all=4 --one-hot -o jobs
  [[ "$("$SOTTO" inspect jobs/all-features.npy)" == *"4"*"4"* ]]
}

@test "an attack writes scores, result and page; the scores serve audit" {
  run own shokri --shadows 4 -o out
  [ "$status" -eq 0 ]
  [[ "$output" == *"100 members, 100 non-members"* ]]
  [[ "$output" == *"shokri"* ]]
  for f in scores.npy membership.npy result.json report.json report.html; do [ -s "out/$f" ]; done
  [ "$(stat -c %a out)" = 700 ]
  grep -q '"schema":"sotto.audit/1"' out/result.json
  grep -q '"model_attack":' out/result.json
  run "$SOTTO" audit --scores out/scores.npy --membership out/membership.npy
  [ "$status" -eq 0 ]
  [[ "$output" == *"100 members, 100 non-members"* ]]
}

@test "same seed, same bytes, whatever the threads" {
  own shokri --shadows 3 --threads 1 --json > one.json 2>/dev/null
  own shokri --shadows 3 --threads 2 --json > two.json 2>/dev/null
  cmp one.json two.json
  [ "$(wc -l < one.json)" -eq 1 ]
}

@test "every listed attack runs" {
  local listed
  listed=$("$SOTTO" attack list)
  for name in shokri ml-leaks-1 ml-leaks-3 ml-leaks-combined lira rmia long; do
    [[ "$listed" == *"  $name "* ]]
    run own "$name" --shadows 4 --json
    [ "$status" -eq 0 ]
  done
  run own label-combined --queries 100 --json
  [ "$status" -eq 0 ]
  [[ "$output" == *'"distances":1,'* ]]
  refused 77 "attack: label-combined has a budget of 5 queries per record; expected at least 9" own label-combined --queries 5
  run attack ml-leaks-2 --other-features p/other-features.npy --other-labels p/other-labels.npy --hidden 16 --epochs 30 --json
  [ "$status" -eq 0 ]
}

@test "shadow data: noisy, marginals, synthesis" {
  for kind in noisy marginals class-marginals synthesis; do
    run own shokri --shadows 2 --shadow-data $kind --synthetic-records 120 --json
    [ "$status" -eq 0 ]
    [[ "$output" == *"\"kind\":\"$kind\""* ]]
  done
  run attack shokri --shadows 2 --shadow-data synthesis --synthetic-records 120 --json # needs no records of its own
  [ "$status" -eq 0 ]
}

@test "shards fill one cache, and a killed run continues" {
  run own shokri --shadows 4 --cache c --shard 1/2
  [ "$status" -eq 0 ]
  [[ "$output" == *'"schema":"sotto.shadows/1"'*'"missing":2'* ]]
  [ ! -e shard-out ]
  run own shokri --shadows 4 --cache c --shard 2/2 -o shard-out
  [ "$status" -eq 0 ]
  [ -s shard-out/scores.npy ]
  rm "$(ls c/*.json | head -n 1)" # as if killed before the manifest
  run own shokri --shadows 4 --cache c --json
  [ "$status" -eq 0 ]
  [[ "$output" == *'shadow models: 1 trained, 3 from the cache, 0 missing'* ]]
  own shokri --shadows 4 --cache c -o from-cache >/dev/null 2>&1
  own shokri --shadows 4 -o from-scratch >/dev/null 2>&1
  cmp from-cache/scores.npy from-scratch/scores.npy
}

@test "a killed run leaves whole shadows behind, and the next one uses them" {
  own shokri --shadows 60 --cache killed > /dev/null 2>&1 &
  local pid=$! i
  for ((i = 0; i < 600; i++)); do
    [ "$(find killed -name '*.json' 2> /dev/null | wc -l)" -lt 3 ] || break
    sleep 0.05
  done
  pkill -9 -P $pid 2> /dev/null || true
  kill -9 $pid 2> /dev/null || true
  wait $pid 2> /dev/null || true
  own shokri --shadows 60 --cache killed -o after-kill > result.txt 2>&1
  local reused
  reused=$(sed -n 's/.* trained, \([0-9]*\) from the cache.*/\1/p' result.txt)
  [ "$reused" -ge 3 ]
  own shokri --shadows 60 -o no-kill > /dev/null 2>&1
  cmp after-kill/scores.npy no-kill/scores.npy
}

@test "workers share one cache: the report has the same bytes as without them" {
  export SOURCE_DATE_EPOCH=1767225600 # else a report says when it was made
  for place in serial shared; do
    mkdir "$place"
    cp -r b t.safetensors "$place"
  done
  (cd serial && own lira --shadows 12 --cache c -o out > /dev/null 2>&1) || return 1
  cd shared
  for i in 1 2 3; do
    own lira --shadows 12 --cache c --worker > worker$i.json 2> worker$i.txt &
    pids[i]=$!
  done
  pkill -9 -P "${pids[2]}" 2> /dev/null || true # at any moment
  for i in 1 3; do wait "${pids[i]}"; done
  wait "${pids[2]}" || true
  grep -q '"schema":"sotto.shadows/1"' worker1.json
  own lira --shadows 12 --cache c -o out > /dev/null 2>&1
  cd ..
  for f in report.json report.html result.json scores.npy membership.npy; do
    cmp "serial/out/$f" "shared/out/$f"
  done
}

@test "claims: another machine's is left alone, an old one and that of a dead process are taken over" {
  own shokri --shadows 4 --cache d > /dev/null 2>&1
  local key
  key=$(basename "$(find d -name '*.json' | head -n 1)" .json)
  cp "d/$key.safetensors" kept
  rm "d/$key.safetensors" "d/$key.json"
  echo "node7 4242 boot/space 2026-01-01T00:00:00Z" > "d/$key.claim"
  run own shokri --shadows 4 --cache d --worker --json
  [[ "$output" == *'"trained":0,"reused":3,"missing":1'* ]]
  [[ "$(< "d/$key.claim")" == "node7 4242"* ]]
  touch -d '16 minutes ago' "d/$key.claim"
  run own shokri --shadows 4 --cache d --worker --json
  [[ "$output" == *'"trained":1,"reused":3,"missing":0'* ]]
  [ ! -e "d/$key.claim" ]
  cmp kept "d/$key.safetensors" # the same bits whoever trains it
  rm "d/$key.json"
  echo newer > "d/$key.safetensors" # never overwritten, so a damaged file is found by its name
  run own shokri --shadows 4 --cache d --worker
  [ "$status" -eq 0 ]
  [ "$(< "d/$key.safetensors")" = newer ]
  rm "d/$key.safetensors" "d/$key.json"
  sleep 0 & # a process that is gone, in this boot
  wait $!
  echo "$(hostname) $! $(< /proc/sys/kernel/random/boot_id)/$(readlink /proc/self/ns/pid) 2026-01-01T00:00:00Z" > "d/$key.claim"
  run own shokri --shadows 4 --cache d
  [ "$status" -eq 0 ]
  [[ "$output" == *'shadow models: 1 trained, 3 from the cache, 0 missing'* ]]
  [ "$(find d -type f | wc -l)" -eq 8 ]
}

@test "--shard auto: what the scheduler or launcher says" {
  unset SLURM_ARRAY_TASK_ID PBS_ARRAY_INDEX SGE_TASK_ID OMPI_COMM_WORLD_RANK PMI_RANK SLURM_PROCID
  auto() { own shokri --shadows 4 --cache e --shard "${shard:-auto}" "$@"; }
  run auto
  [ "$status" -eq 64 ]
  [[ "$output" == *"is set, so there is no part to take"*"hint: start it as a job array"* ]]
  SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=6 SLURM_ARRAY_TASK_COUNT=4 run auto --json
  [[ "$output" == *'"trained":1,"reused":0,"missing":3'* ]]
  SGE_TASK_ID=3 SGE_TASK_FIRST=1 SGE_TASK_LAST=3 SGE_TASK_STEPSIZE=2 run auto --json
  [[ "$output" == *'"trained":1,"reused":1,"missing":2'* ]] # part 2 of 2, of which one is there
  PBS_ARRAY_INDEX=0 shard=auto/4 run auto --json
  [[ "$output" == *'"trained":1,"reused":2,"missing":1'* ]]
  rm -r e
  OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=2 run auto --alone
  [[ "$output" == *'"trained":1,"reused":0,"missing":3'* ]] # rank 1 of 2 in task 0 of 2: part 2 of 4
  PBS_ARRAY_INDEX=0 refused 64 "give --shard auto/N" auto
  PBS_ARRAY_INDEX=4 shard=auto/4 refused 64 "this is task 4, counted from 0; expected an array from 0 to 3" auto
  SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_COUNT=4 refused 64 "SLURM_ARRAY_TASK_ID is 7, which is not one of 4 tasks" auto
  SLURM_ARRAY_TASK_ID=x refused 64 "SLURM_ARRAY_TASK_ID is 'x'; expected a whole number" auto
}

@test "--plan: one shadow model is trained to tell how long all take, if none is there" {
  run own shokri --shadows 8 --cache g --plan
  [ "$status" -eq 0 ]
  [[ "$output" == *'"trained":1,"reused":0,"missing":7'*'"hours":{"1":'*'"seconds_each":'*'"bytes":'* ]]
  run own shokri --shadows 8 --cache g --plan
  [[ "$output" == *'"trained":0,"reused":1,"missing":7'* ]]
  [ "$(find g -type f | wc -l)" -eq 2 ]
  refused 64 "attack: --plan needs --cache" own shokri --plan
}

@test "bad input is one clear line" {
  refused 64 "attack 'shocking' is unknown; expected shokri, " own shocking
  refused 64 "attack: --target is missing" "$SOTTO" attack shokri --member-features b/member-features.npy --member-labels b/member-labels.npy --nonmember-features b/nonmember-features.npy --nonmember-labels b/nonmember-labels.npy
  refused 66 "no.safetensors" "$SOTTO" attack shokri --target no.safetensors --member-features b/member-features.npy --member-labels b/member-labels.npy --nonmember-features b/nonmember-features.npy --nonmember-labels b/nonmember-labels.npy
  refused 65 "p/other-features.npy has 40 columns; the target expects 8" attack shokri --attacker-features p/other-features.npy --attacker-labels p/other-labels.npy
  refused 65 "has 600 rows but b/member-labels.npy has 100 labels" attack shokri --attacker-features b/attacker-features.npy --attacker-labels b/member-labels.npy
  refused 64 "attack: --attacker-features and --attacker-labels must be given together" attack shokri --attacker-features b/attacker-features.npy
  refused 64 "attack: shadow models need records; give --attacker-features and --attacker-labels, or --shadow-data synthesis" attack shokri
  refused 64 "ml-leaks-2 needs records of another data set; give --other-features and --other-labels" own ml-leaks-2
  refused 65 "the attacker has 600" own shokri --shadow-records 301
  refused 65 "give fewer shadows or records, or omit --disjoint" own shokri --disjoint --shadows 10 --shadow-records 100
  refused 64 "give --mismatch to allow this" own shokri --hidden 16
  refused 65 "shadows: 3 models; expected an even number >= 4" own lira --shadows 3
  refused 77 "would exceed the budget of 100" own shokri --budget 100
  refused 64 "--shard: '3/2' is not a part; expected I/N such as 2/4, or auto" own shokri --shard 3/2
  refused 64 "--shard needs --cache" own shokri --shard 1/2
  refused 64 "--worker needs --cache" own shokri --worker
  refused 64 "omit --shard" own shokri --worker --cache c --shard 1/2
  refused 64 "omit --output" own shokri --worker --cache c -o no
  refused 64 "attack: ml-leaks-3 trains no shadow models, so a worker has nothing to do" attack ml-leaks-3 --worker --cache c
  refused 64 "--shadow-data must be real, synthesis, marginals, class-marginals or noisy (got 'fake')" own shokri --shadow-data fake
  refused 64 "attack: --flip must be at least 0 and at most 1 (got 2)" own shokri --flip 2
}

@test "shadow models of another recipe are allowed when the option says so" {
  run own shokri --mismatch --hidden 8 --epochs 3 --shadows 2 --json
  [ "$status" -eq 0 ]
  [[ "$output" == *'hidden\":[8]'*'epochs\":3'* || "$output" == *'epochs\":3'*'hidden\":[8]'* ]]
  [[ "$output" == *'batch\":20'* ]] # the target's
  run own shokri --mismatch --hidden 0 --trainer sgd --epochs 3 --shadows 2 --json
  [ "$status" -eq 0 ]
  [[ "$output" == *'hidden\":[]'* && "$output" == *'trainer\":\"sgd'* ]]
  refused 65 "epochs must be at least 1 and at most 4294967295 (got 0)" own shokri --mismatch --epochs 0
  refused 65 "lr must be > 0 (got 0)" own shokri --mismatch --lr 0
  refused 64 "--hidden: '8,0' is not a list of whole numbers" own shokri --mismatch --hidden 8,0
  refused 65 "hidden: too many numbers; expected at most 7" own shokri --mismatch --hidden 1,2,3,4,5,6,7,8
}

@test "a whole network is a target, networks are shadows" {
  network() {
    local name=$1
    shift
    "$SOTTO" attack "$name" --target net.safetensors --member-features b/member-features.npy --member-labels b/member-labels.npy \
      --nonmember-features b/nonmember-features.npy --nonmember-labels b/nonmember-labels.npy \
      --attacker-features b/attacker-features.npy --attacker-labels b/attacker-labels.npy --threads 1 "$@"
  }
  "$SOTTO" train --data b/member-features.npy:b/member-labels.npy --model mlp --hidden 32 --epochs 60 --batch 20 --dtype f32 --backend dnnl --threads 1 --quiet -o net.safetensors
  network lira --shadows 4 --cache nets -o net1 > /dev/null 2> net1.txt
  network lira --shadows 4 --cache nets -o net2 > /dev/null 2> net2.txt
  grep -q '4 trained, 0 from the cache' net1.txt
  grep -q '0 trained, 4 from the cache' net2.txt
  cmp net1/scores.npy net2/scores.npy
  grep -q '"start":"seeds of their own"' net1/result.json
  network lira --shadows 4 --cache nets --known-start -o net3 > /dev/null 2> net3.txt
  grep -q '4 trained, 0 from the cache' net3.txt # other shadows
  grep -q '"start":"the target.s own seed"' net3/result.json
  grep -q 'started as the target was' net3/report.html
  for name in shokri gradient-norm white-box rmia-offline; do
    run network "$name" --shadows 4 --json
    [ "$status" -eq 0 ]
  done
  run network shokri --shadows 2 --epochs 5 --mismatch --json
  [ "$status" -eq 0 ]
  [[ "$output" == *'epochs\":5'* ]]
  refused 64 "give --mismatch to allow this" network shokri --epochs 5
  refused 64 "attack: give either --model (shadow networks) or --trainer (shadow heads), not both" network shokri --model mlp --trainer adam
  refused 65 "model cnn needs images" network shokri --model cnn --mismatch
  refused 64 "attack: several views need image shapes; give --image C,H,W" network lira --views 2
  refused 65 "3 views; expected 1, 2 (mirrored) or 18" network lira --views 3
}

@test "a training keeps its intermediate models, and the trajectory attacks read them" {
  watched=(--data b/member-features.npy:b/member-labels.npy --model mlp --hidden 32 --epochs 20 --batch 20 --dtype f32 --backend dnnl --threads 1 --quiet)
  "$SOTTO" train "${watched[@]}" --snapshot-every 8 -o w.safetensors
  [ "$(ls w.safetensors.snapshots)" = "$(printf '%s\n' epoch-0000{08,16}.safetensors{,.provenance.json})" ]
  [[ "$("$SOTTO" inspect w.safetensors.snapshots/epoch-000008.safetensors)" == *"epoch: 8"*"statement: none: private records"* ]]
  target=w own loss-trajectory --snapshots w.safetensors.snapshots --cache watched --quiet -o w1 > /dev/null
  grep -q '"snapshots":2,"snapshot_every":8' w1/result.json
  grep -q 'by its own intermediate models' w1/report.html
  target=w own metric-trajectory --snapshots w.safetensors.snapshots --cache watched -o w2 > /dev/null 2> w2.txt
  grep -q '0 trained, 1 from the cache' w2.txt
  target=w refused 64 "attack: --snapshots needs --cache" own loss-trajectory --snapshots w.safetensors.snapshots
  refused 64 "needs a network of 'sotto train' as --target FILE" own loss-trajectory --snapshots w.safetensors.snapshots --cache watched
  refused 65 "snapshot_every: 20 epochs leave no model before the last of 20 epochs" "$SOTTO" train "${watched[@]}" --snapshot-every 20 -o no.safetensors
  refused 65 "snapshots: no model is kept; give snapshot_every" "$SOTTO" train "${watched[@]}" --snapshots d -o no.safetensors
  refused 65 "snapshot_every: the certificate of DP-SGD is for the file of the last model" "$SOTTO" train \
    --data synthetic-blobs-n60 --model mlp --dp-sgd --epsilon 8 --batch 20 --snapshot-every 2 --quiet -o no.safetensors
}

@test "white-box learns from known members, of a head or a network, and says so" {
  "$SOTTO" data split synthetic-blobs-d8-k4-n900 --parts known=60,others=60 --seed 4 -o k --quiet
  "$SOTTO" train --data b/member-features.npy:b/member-labels.npy --model mlp --hidden 32 --epochs 5 --dtype f32 --backend dnnl --threads 1 --quiet -o net5.safetensors
  members=(--known-member-features k/known-features.npy --known-member-labels k/known-labels.npy)
  others=(--known-nonmember-features k/others-features.npy --known-nonmember-labels k/others-labels.npy)
  for target in t net5; do
    run attack white-box "${members[@]}" "${others[@]}" --layers 1 --threads 1 --quiet --json
    [ "$status" -eq 0 ]
    [[ "$output" == *'"mode":"known","known_members":60,"known_nonmembers":60,"layers":1,"features":'* ]]
  done
  refused 65 "60 known members and 0 known non-members; expected some of both, or none" attack white-box "${members[@]}"
  refused 64 "gradient-norm does not learn from known members; expected white-box" attack gradient-norm "${members[@]}" "${others[@]}"
  refused 65 "layers must be at least 1 and at most 16 (got 0)" attack white-box "${members[@]}" "${others[@]}" --layers 0
}

# embeddings SEED RECORDS STEADY PREFIX: 3 views of 4 numbers, -1, 0.5 or 1; STEADY 1: a record's views are the record as it is
embeddings() {
  awk -v seed="$1" -v n="$2" -v steady="$3" 'function one() { x = x * 16807 % 2147483647; return of[x % 3] }
    function record() { return one() one() one() one() }
    BEGIN { x = seed * 1000003; of[0] = "\\0\\0\\0200\\0277"; of[1] = "\\0\\0\\0\\077"; of[2] = "\\0\\0\\0200\\077"
      for (i = 0; i < n; i++) { plain = record(); print plain; for (view = 0; view < 3; view++) print (steady ? plain : record()) > "/dev/stderr" } }' > all.plain 2> all.views
  printf %b "$(tr -d '\n' < all.views)" | npy "$4-views.npy" '<f4' "$2, 3, 4"
  printf %b "$(tr -d '\n' < all.plain)" | npy "$4-plain.npy" '<f4' "$2, 4"
}

@test "attack encoder: embeddings by any program" {
  embeddings 1 24 1 m
  embeddings 2 26 0 n
  embeddings 3 30 1 sm
  embeddings 4 28 0 sn
  foreign=(attack encoder --member-views m-views.npy --member-plain m-plain.npy --nonmember-views n-views.npy --nonmember-plain n-plain.npy
           --shadow-member-views sm-views.npy --shadow-member-plain sm-plain.npy --shadow-nonmember-views sn-views.npy --shadow-nonmember-plain sn-plain.npy)
  run "$SOTTO" "${foreign[@]}" --json
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [[ "$output" == *'"name":"encoder-mi-threshold"'* || "$output" == *'"name": "encoder-mi-threshold"'* ]] || { echo "$output"; return 1; }
  run "$SOTTO" "${foreign[@]}" -o report
  [ "$status" -eq 0 ]
  [[ "$output" =~ encoder-mi-threshold\ +1\.000 ]] || { echo "$output"; return 1; }
  # the same records on both sides: no leak to find
  run "$SOTTO" "${foreign[@]:0:6}" --nonmember-views m-views.npy --nonmember-plain m-plain.npy "${foreign[@]:10}"
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [[ "$output" =~ encoder-mi-threshold\ +0\.500 ]] || { echo "$output"; return 1; }
  # without a shadow: what needs no learning
  run "$SOTTO" "${foreign[@]:0:10}" --bank-plain n-plain.npy
  [ "$status" -eq 0 ] || { echo "$output"; return 1; }
  [[ "$output" =~ encoder-mi-threshold\ +1\.000 ]] || { echo "$output"; return 1; }
  [[ "$output" == *encoder-contrastive* && "$output" != *encoder-norm-ratio* && "$output" != *encoder-mi-set* ]] || { echo "$output"; return 1; }
}

@test "attack encoder: embeddings that do not fit are refused" {
  embeddings 1 24 1 m
  embeddings 2 26 0 n
  refuses() { local text=$1; shift; run "$SOTTO" attack encoder "$@"; [ "$status" -ne 0 ]; [[ "$output" == *"$text"* ]] || { echo "$output"; return 1; }; }
  refuses "--member-plain" --member-views m-views.npy
  refuses "--encoder cannot be combined with embeddings from files" --member-views m-views.npy --encoder e.safetensors
  refuses "--views is 10000; expected 2 to 256 views of each image" --encoder e --shadow-encoder s --data d --member-indices a \
    --nonmember-indices b --shadow-member-indices b --shadow-nonmember-indices a --views 10000 # before anything is read
  all=(--member-views m-views.npy --nonmember-views n-views.npy --nonmember-plain n-plain.npy --shadow-member-views m-views.npy
       --shadow-member-plain m-plain.npy --shadow-nonmember-views n-views.npy --shadow-nonmember-plain n-plain.npy)
  refuses "n-plain.npy: has shape (26, 4); expected (n, d), n = 24 as in m-views.npy" "${all[@]}" --member-plain n-plain.npy
  refuses "m-views.npy: has shape (24, 3, 4); expected (n, d)" "${all[@]}" --member-plain m-views.npy
  refuses "--bank-plain and --shadow-bank-plain must be given together" "${all[@]}" --member-plain m-plain.npy --bank-plain n-plain.npy
  refuses "--shadow-nonmember-views" "${all[@]:0:10}" --member-plain m-plain.npy
}

@test "a poisoned training set is made, and the attack says that its shadows are poisoned too" {
  python3 - <<'P'
import random
random.seed(3)
put = lambda name, v: open(name, "w").write("\n".join(",".join(map(str, r)) if isinstance(r, list) else str(r) for r in v) + "\n")
for name, n in (("pm", 20), ("pn", 20), ("pr", 30), ("pa", 40)):
    y = [i % 3 for i in range(n)]
    put(name + "-x.csv", [[random.gauss(k, 1), random.gauss(-k, 1), random.gauss(0, 1)] for k in y]); put(name + "-y.csv", y)
P
  sides=(--member-features pm-x.csv --member-labels pm-y.csv --nonmember-features pn-x.csv --nonmember-labels pn-y.csv)
  run "$SOTTO" attack poison --poison 2 --classes 3 "${sides[@]}" --other-features pr-x.csv --other-labels pr-y.csv -o set
  [ "$status" -eq 0 ]
  [[ "$output" == *"of 130 records, 80 of them wrong copies"* ]]
  "$SOTTO" head --features set/features.npy --labels set/labels.npy --classes 3 --hidden 8 --epochs 5 -o p.safetensors --quiet > /dev/null
  run "$SOTTO" attack lira --poison 2 --target p.safetensors "${sides[@]}" --attacker-features pa-x.csv --attacker-labels pa-y.csv --shadows 4 --json
  [ "$status" -eq 0 ]
  [[ "$output" == *'"poison":2'* && "$output" == *"with 2 wrong copies of each record"* ]]
  run "$SOTTO" attack poison --poison 2 "${sides[@]}" -o set
  [ "$status" -eq 64 ]
  run "$SOTTO" attack shokri --poison 2 --target p.safetensors "${sides[@]}" --attacker-features pa-x.csv --attacker-labels pa-y.csv
  [ "$status" -eq 64 ]
  run "$SOTTO" attack poison --poison 2 --classes 2 "${sides[@]}" -o set
  [ "$status" -eq 65 ]
  [[ "$output" == *"pm-y.csv: row 2 has label 2; expected 0 to 1"* ]]
}

@test "lira measures memorisation by its shadow models on demand" {
  LC_ALL=C awk 'BEGIN { srand(4); for (i = 0; i < 60; i++) print i % 2 + rand() "," i % 2 - rand() "," rand() }' > all-x.csv
  seq 0 59 | awk '{ print $1 % 2 }' > all-y.csv
  for s in 1,20:mm 21,40:mn 41,60:ma; do
    for k in x y; do sed -n "${s%:*}p" "all-$k.csv" > "${s#*:}-$k.csv"; done
  done
  "$SOTTO" head --features mm-x.csv --labels mm-y.csv --classes 2 --hidden 8 --epochs 5 -o m.safetensors --quiet > /dev/null
  attack=("$SOTTO" attack lira --target m.safetensors --member-features mm-x.csv --member-labels mm-y.csv --nonmember-features mn-x.csv
    --nonmember-labels mn-y.csv --attacker-features ma-x.csv --attacker-labels ma-y.csv)
  run "${attack[@]}" --shadows 16 --memorisation -o memory
  [ "$status" -eq 0 ]
  [[ "$output" == *"memorisation by the reference models: 40 records with 8 or more on each side"* ]]
  [ "$(stat -c %s memory/memorisation.npy)" -eq $((128 + 8 * 40)) ]
  grep -q "Most memorised records" memory/report.html
}

@test "a training record is named from a convex head if all others are known, and the certificate's bound stands beside" {
  python3 - <<'P'
import random
random.seed(5)
put = lambda name, v: open(name, "w").write("\n".join(",".join(map(str, r)) if isinstance(r, list) else str(r) for r in v) + "\n")
for name, n in (("rm", 40), ("ra", 80)):
    y = [i % 2 for i in range(n)]
    put(name + "-x.csv", [[random.gauss(k, 1) for _ in range(6)] for k in y]); put(name + "-y.csv", y)
P
  rows=(--member-features rm-x.csv --member-labels rm-y.csv --attacker-features ra-x.csv --attacker-labels ra-y.csv)
  "$SOTTO" head --features rm-x.csv --labels rm-y.csv --classes 2 --trainer convex --lambda 0.1 -o c.safetensors --quiet > /dev/null
  run "$SOTTO" attack informed-reconstruction --target c.safetensors "${rows[@]}" --targets 5
  [ "$status" -eq 0 ]
  [[ "$output" == [345]" of 5 records named among 10 candidates"* && "$output" != *"by the certificate"* ]]
  run "$SOTTO" attack informed-reconstruction --target c.safetensors "${rows[@]}" --targets 5 --json
  echo "$output" | python3 -m json.tool > /dev/null
  run "$SOTTO" attack informed-reconstruction --target c.safetensors "${rows[@]}" --candidates 50
  [ "$status" -eq 65 ]
  run "$SOTTO" attack informed-reconstruction "${rows[@]}"
  [ "$status" -eq 64 ]
}
