#!/usr/bin/env bats
# sotto monitor: in front of a served model and over a log. The models are tests/support/serve_model.c.

bats_require_minimum_version 1.5.0
load ../../../../../tests/support/npy

# bytes SEED COUNT LEVELS
bytes() { printf "$(LC_ALL=C awk -v s="$1" -v n="$2" -v k="$3" 'BEGIN { srand(s); for (i = 0; i < n; i++) printf "\\x%02x", int(k * rand()) }')"; }

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  PATH=$(dirname "$SOTTO"):$(dirname "$SOTTO_SERVE_MODEL"):$PATH # a command is split at spaces, of which their folders may have some
  bytes 1 8000 200 | npy benign.npy '|u1' '2000, 4'
  bytes 2 400 200 | npy bank.npy '|u1' '100, 4'
  for n in 1 2; do
    bytes 1$n 240 200 | npy "x$n.npy" '|u1' '60, 4'
    awk 'BEGIN { for (i = 0; i < 60; i++) printf "\\x0%d", i % 3 }' > y
    printf "$(cat y)" | npy "y$n.npy" '|u1' '60,'
  done
}

attack() {
  name=$1
  shift
  "$SOTTO" attack "$name" --member-features x1.npy --member-labels y1.npy --nonmember-features x2.npy --nonmember-labels y2.npy "$@"
}
serve() { echo "serve_model $*"; }
behind() { echo "sotto monitor --calibration benign.npy --bank bank.npy --block 10 --log q.log $1 -- $(serve "${2:-softmax}" 3)"; }
judge() { "$SOTTO" monitor q.log --calibration benign.npy --bank bank.npy --block 10 "$@"; }

@test "a model behind the monitor gives the same answers, and its attack is found" {
  attack noise --target-command "$(serve softmax 3)" --classes 3 --queries 20 --json > a.json
  run --separate-stderr attack noise --target-command "$(behind '')" --classes 3 --queries 20 --json
  [ "$status" -eq 0 ]
  diff <(echo "$output") a.json
  [[ "$stderr" == *"'anonymous' raised an alarm after "* ]]
  judge > text
  grep -q '^  anonymous  *2[0-9]* ' text
  grep -q 'The probability of any false alarm in a client.s life is at most 0.001' text
  grep -q 'is not found; only answers protect there' text
  grep -q 'Not checked: whether rows of calibration and bank are training records' text
  judge --json | grep -q '"schema":"sotto.monitor/1".*"threshold":2000.0,.*"alarms":1'
  judge -o m.json > /dev/null
  grep -q '"near": {' m.json
  judge --json > own.json
  SOTTO_ISA=v2 judge --json > v2.json
  cmp own.json v2.json # distances have the same bits at every instruction set
  [ "$(stat -c %a q.log)" = 600 ]
}

@test "labels pass through as labels" {
  attack noise --target-command "$(serve labels 3)" --classes 3 --queries 20 --json > a.json
  attack noise --target-command "$(behind '' labels)" --classes 3 --queries 20 --json 2> /dev/null > b.json
  cmp a.json b.json
}

@test "the state survives a restart, and stop stays stopped" {
  rows() { judge --json | sed 's/.*"name":"anonymous","rows":\([0-9]*\).*/\1/'; }
  attack noise --target-command "$(behind '--quiet')" --classes 3 --queries 20 --quiet > /dev/null
  before=$(rows)
  for i in 1 2 3; do attack ml-leaks-3 --target-command "$(behind '--quiet')" --classes 3 --quiet > /dev/null; done
  [ "$(rows)" -eq $((before + 3360)) ] # 3 x (120 + 1000)
  run attack ml-leaks-3 --target-command "$(behind '--on-alarm stop')" --classes 3
  [ "$status" -eq 74 ]
  [[ "$output" == *"'anonymous' raised an alarm after "*" rows; the service ended"* ]]
  [ "$(rows)" -eq $((before + 3360)) ] # nothing more was asked
}

@test "what was answered is in the log of a monitor that was killed" {
  mkfifo in out
  $(behind '--quiet') < in > out &
  exec 7> in 8< out
  { header="{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4), }"
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header"
    printf "$(printf '\\x00%.0s' {1..16})"; } > row
  for _ in 1 2 3 4 5; do
    cat row >&7
    head -c 140 <&8 > answer # 128 bytes of header, 3 floats
  done
  kill -9 $!
  exec 7>&- 8<&-
  wait || true
  [ "$(stat -c %s answer)" -eq 140 ]
  judge --json | grep -q '"name":"anonymous","rows":5,'
}

@test "a page shows what a monitor found; an encoder needs images" {
  attack noise --target-command "$(behind '--quiet')" --classes 3 --queries 20 -o audit > /dev/null
  judge -o m.json > /dev/null
  "$SOTTO" report audit --monitor m.json -o page.html
  grep -q '<section id="monitor"' page.html
  grep -q 'Patience defeats the monitor too' page.html
  "$SOTTO" report audit -o plain.html
  run -1 grep -q '<section id="monitor"' plain.html
  run judge --encoder e.safetensors
  [ "$status" -eq 64 ]
  [[ "$output" == *"monitor: --encoder and --image need each other"* ]]
  run judge --encoder e.safetensors --image 1,2,2
  [ "$status" -eq 66 ]
}

@test "stop withholds the answer that belongs to the alarm" {
  run attack noise --target-command "$(behind '--on-alarm stop')" --classes 3 --queries 20 --query-batch 10
  [ "$status" -eq 74 ]
  [[ "$output" == *"ended with exit status 1 before it had answered frame"* ]]
}

# numbers NAME < a result on one line: each number of that name
numbers() { grep -o "\"$1\":[0-9.e-]*" | sed 's/.*://'; }

@test "withheld answers say nothing, and the log has the model's own" {
  attack noise --target-command "$(serve softmax 3)" --classes 3 --queries 20 -o full --quiet > /dev/null
  attack noise --target-command "$(behind '--on-alarm withhold --quiet')" --classes 3 --queries 20 --query-batch 10 -o cut --quiet > /dev/null
  judge --json | grep -q '"alarms":1'
  run -1 cmp full/scores.npy cut/scores.npy
  cp q.log before
  # a client that was found stays found: equal answers to all rows, in the shape and type of the model's
  { header="{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }"
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header"
    printf "$(printf '\\x00%.0s' {1..16})$(printf '\\x3f%.0s' {1..16})"; } > rows
  ask() { $(behind "$1") < rows 2> /dev/null | tail -c 24 | od -v -An -tf4 -w4; }
  ask '--on-alarm withhold' | LC_ALL=C awk '{ n++; if ($1 < 0.33333 || $1 > 0.33334) exit 1 } END { exit n != 6 }'
  [ "$(ask '--on-alarm log' | sort -u | wc -l)" -gt 2 ]
  tail -c 24 q.log > logged
  [ "$(od -v -An -tf4 -w4 logged | sort -u | wc -l)" -gt 2 ]
  # another client is answered
  { printf 'client ada\n'; cat rows; } > named
  [ "$($(behind '--on-alarm withhold') < named 2> /dev/null | tail -c 24 | od -v -An -tf4 -w4 | sort -u | wc -l)" -gt 2 ]
  # labels: class 0
  cp before q.log
  [ "$($(behind '--on-alarm withhold' labels) < rows 2> /dev/null | tail -c 16 | od -v -An -td8 -w8 | sort -u | tr -d ' ')" = 0 ]
}

@test "an attacker that hides: several accounts, dilution, decoys, a random order; the same scores" {
  bytes 3 2000 200 | npy cover.npy '|u1' '500, 4'
  attack noise --target-command "$(serve softmax 3)" --classes 3 --queries 20 -o plain --quiet > /dev/null
  hidden() {
    rm -rf q.log
    attack noise --target-command "$(behind '--quiet')" --classes 3 --queries 20 --quiet --force "$@" -o hidden > /dev/null
    cmp plain/scores.npy hidden/scores.npy
  }
  hidden
  first=$(judge --json | numbers alarm)
  [ "$first" -gt 0 ]
  hidden --spread 60 # 42 rows each: an alarm needs five blocks
  [ "$(judge --json | grep -o '"name":"account-[0-9]*"' | sort -u | wc -l)" -eq 60 ]
  judge --json | grep -q '"alarms":0'
  [ "$(judge --json | numbers rows | sort -n | uniq -c | wc -l)" -le 2 ] # dealt in turn
  grep -q '"disguise":{"clients":60,"cover_queries":0,"shuffled":false}' hidden/result.json
  hidden --dilute 0.1 --cover cover.npy
  found=$(judge --json | numbers alarm)
  [ -z "$found" ] || [ "$found" -gt "$first" ]
  grep -q '"disguise":{"clients":1,"cover_queries":[1-9][0-9]*,"shuffled":false}' hidden/result.json
  hidden --decoys 9 --cover cover.npy # two rows of the attack in a block of 10
  found=$(judge --json | sed 's/.*"near":{"reached":\([a-z0-9]*\).*/\1/')
  [ "$found" = null ]
}

@test "a random order changes no score that depends on its record alone" {
  attack ml-leaks-3 --target-command "$(serve softmax 3)" --classes 3 -o plain --quiet > /dev/null
  attack ml-leaks-3 --target-command "$(behind '--quiet')" --classes 3 --shuffle -o shuffled --quiet > /dev/null
  cmp plain/scores.npy shuffled/scores.npy
  grep -q '"disguise":{"clients":1,"cover_queries":0,"shuffled":true}' shuffled/result.json
  diff <(sed 's/,"disguise":{[^}]*}//' shuffled/result.json) plain/result.json
  rows() { head -c $((128 + 1920)) "$1" | tail -c 1920 | od -v -An -tx4 -w16; }
  rows q.log > asked
  "$SOTTO" monitor --calibration benign.npy --bank bank.npy --log p.log --quiet -- "$(serve softmax 3)" < /dev/null
  attack ml-leaks-3 --target-command "sotto monitor --calibration benign.npy --bank bank.npy --block 10 --quiet --log p.log -- $(serve softmax 3)" \
    --classes 3 --quiet > /dev/null
  rows p.log > given
  run -1 cmp asked given
  cmp <(sort asked) <(sort given) # the same records in another order
}

@test "a disguise needs one who watches, and what it sends" {
  run "$SOTTO" attack noise --target none --member-features x1.npy --member-labels y1.npy --nonmember-features x2.npy --nonmember-labels y2.npy --spread 2
  [ "$status" -ne 0 ]
  run attack noise --target-command "$(serve softmax 3)" --dilute 0.5
  [ "$status" -eq 64 ]
  [[ "$output" == *"attack: --dilute and --decoys need benign rows to send; give them by --cover"* ]]
  run attack noise --target-command "$(serve softmax 3)" --dilute 0 --cover benign.npy
  [ "$status" -eq 64 ]
  [[ "$output" == *"attack: --dilute must be at least 0.001 and at most 1 (got 0)"* ]]
  run attack noise --target-command "$(serve softmax 3)" --decoys -1 --cover benign.npy
  [ "$status" -eq 64 ]
  run attack noise --target-command "$(serve softmax 3)" --spread 0
  [ "$status" -eq 64 ]
  run attack noise --target-command "$(serve softmax 3)" --cover benign.npy
  [ "$status" -eq 64 ]
  [[ "$output" == *"rows of --cover are sent by --dilute and --decoys only"* ]]
  bytes 4 300 200 | npy wide.npy '|u1' '60, 5'
  run attack noise --target-command "$(serve softmax 3)" --decoys 1 --cover wide.npy
  [ "$status" -eq 65 ]
  [[ "$output" == *"wide.npy has 5 columns; the target expects 4"* ]]
}

@test "client lines name clients; --client allows one" {
  frame() { cat "$1"; }
  printf "$(printf '\\x00%.0s' {1..16})" > zeros
  { header="{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4), }"
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header"
    cat zeros; } > row
  { printf 'client ada\n'; cat row row; printf 'client bob\n'; cat row; } > ask
  $(behind '') < ask > answers
  judge --json | grep -q '"name":"ada","rows":2,.*"name":"bob","rows":1,'
  run $(behind '--client ada') < ask
  [ "$status" -eq 65 ]
  [[ "$output" == *"the client: it calls itself 'bob'; expected 'ada' (--client)"* ]]
  printf 'client \n' > bad
  run $(behind '') < bad
  [ "$status" -eq 65 ]
  [[ "$output" == *"the client: 'client ?' is no client line; expected 'client NAME' with a name of 1 to 64 bytes"* ]]
  head -c 100 row > part
  run $(behind '') < part
  [ "$status" -eq 65 ]
  [[ "$output" == *"the client: its input ends within a message of which 100 bytes arrived"* ]]
}

@test "one monitor for each log" {
  mkfifo in
  $(behind '') < in > /dev/null &
  exec 7> in
  for _ in 1 2 3 4 5 6 7 8 9 10; do [ -e q.log ] && break; sleep 0.2; done
  run $(behind '') < /dev/null
  exec 7>&-
  wait
  [ "$status" -eq 75 ] || [ "$status" -eq 71 ]
  [[ "$output" == *"q.log: another process uses the log; expected one monitor for each log"* ]]
}

@test "options that contradict each other or files that do" {
  run "$SOTTO" monitor --calibration benign.npy --bank bank.npy -- true
  [ "$status" -eq 64 ]
  [[ "$output" == *"monitor: --log is missing"* ]]
  run "$SOTTO" monitor q.log --calibration benign.npy --bank bank.npy --client ada
  [ "$status" -eq 64 ]
  [[ "$output" == *"monitor: --client needs -- COMMAND"* ]]
  run "$SOTTO" monitor --json --log q.log --calibration benign.npy --bank bank.npy -- true
  [ "$status" -eq 64 ]
  run "$SOTTO" monitor --log q.log --on-alarm shout --calibration benign.npy --bank bank.npy -- true
  [ "$status" -eq 64 ]
  [[ "$output" == *"--on-alarm must be log, stop or withhold (got 'shout')"* ]]
  : > q.log
  run judge --bank benign.npy
  [ "$status" -eq 64 ]
  run "$SOTTO" monitor q.log --calibration benign.npy --bank benign.npy
  [ "$status" -eq 65 ]
  [[ "$output" == *"2000 rows of the calibration are equal to rows of the bank; expected disjoint records"* ]]
  run judge --training benign.npy
  [ "$status" -eq 65 ]
  [[ "$output" == *"2000 rows of the calibration are equal to rows of the training records"* ]]
  run judge --alpha 0
  [ "$status" -ne 0 ]
  run judge
  [ "$status" -eq 0 ]
}

@test "every member of what a monitor found stands in its schema" {
  command -v python3 > /dev/null || skip "python3 is not installed"
  tree=$BATS_TEST_DIRNAME/../../../../..
  rows=$tree/examples/audit
  [ -x "$SOTTO_SERVE_MODEL" ] || skip "serve_model is not built"
  cp "$rows"/{member,nonmember}-logits.npy .
  monitor="--calibration nonmember-logits.npy --bank member-logits.npy --block 10"
  "$SOTTO" attack noise --member-features "$rows/member-logits.npy" --member-labels "$rows/member-labels.npy" --nonmember-features "$rows/nonmember-logits.npy" \
    --nonmember-labels "$rows/nonmember-labels.npy" --target-command "sotto monitor $monitor --log q.log -- serve_model softmax 10" --classes 10 --queries 5 > /dev/null 2>&1
  "$SOTTO" monitor q.log $monitor --service --json > m.json
  "$tree/tools/check-schema" m.json
}

@test "under a launcher rank 0 works, and the others end in silence" {
  for variables in "OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK" "PMI_SIZE=3 PMI_RANK"; do
    run env $variables=2 "$SOTTO" monitor none.jsonl
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    run env $variables=0 "$SOTTO" monitor none.jsonl
    [ "$status" -ne 0 ]
  done
}
