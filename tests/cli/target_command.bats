#!/usr/bin/env bats
# sotto attack --target-command: a correct command gives the results of the file; every other one a clear error line
# and nothing half-written. The commands are tests/support/serve_model.c; examples/serve_numpy.py where numpy is there.

load ../support/npy

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  PATH=$(dirname "$SOTTO_SERVE_MODEL"):$PATH # a command is split at spaces, of which its folder may have some
  for n in 1 2; do
    LC_ALL=C awk -v s=$n 'BEGIN { srand(s); for (i = 0; i < 240; i++) printf "\\x0%d", int(4 * rand()) }' > "x$n"
    printf "$(cat "x$n")" | npy "x$n.npy" '|u1' '60, 4'
    awk 'BEGIN { for (i = 0; i < 60; i++) printf "\\x0%d", i % 3 }' > y
    printf "$(cat y)" | npy "y$n.npy" '|u1' '60,'
  done
}

attack() {
  "$SOTTO" attack ml-leaks-3 --member-features x1.npy --member-labels y1.npy --nonmember-features x2.npy \
    --nonmember-labels y2.npy "$@"
}
serve() { echo "serve_model $*"; }

@test "a served model is attacked" {
  run attack --target-command "$(serve softmax 3)" -o out
  [ "$status" -eq 0 ]
  [[ "$output" == *"ml-leaks-3"* ]]
  grep -q '"queries":1121' <(attack --target-command "$(serve softmax 3)" --json) # 1 + 120 + 1000
  [ -s out/scores.npy ]
}

@test "the size of frames changes nothing" {
  attack --target-command "$(serve softmax 3)" --json > a.json
  attack --target-command "$(serve slow 3)" --query-batch 7 --classes 3 --json | sed 's/"queries":1120/"queries":1121/' > b.json
  cmp a.json b.json
}

@test "a command that dies, is killed, or does not exist" {
  run attack --target-command "$(serve die 3)" -o out
  [ "$status" -eq 74 ]
  [[ "${lines[0]}" == "sotto: error: target command '"*"': ended with exit status 3 before it had answered frame 1" ]]
  [[ "${lines[1]}" == "hint: "* ]]
  [ ! -e out ]
  run attack --target-command "$(serve die-later 3)"
  [ "$status" -eq 74 ]
  [[ "$output" == *"ended with exit status 4 before it had answered frame 2"* ]]
  run attack --target-command "$(serve kill 3)"
  [ "$status" -eq 74 ]
  [[ "$output" == *"was killed by signal 9 (Killed)"* ]]
  run attack --target-command "./no-such-server"
  [ "$status" -eq 74 ]
  [[ "$output" == *"ended with exit status 127 (the shell did not find it)"* ]]
}

@test "a command that hangs is ended, with all that it started" {
  run attack --target-command "$(serve hang 3)" --timeout 0.2
  [ "$status" -eq 74 ]
  [[ "$output" == *"no complete answer to frame 1 within 0.2 s (it read"* ]]
  run attack --target-command "$(serve grandchild 3 pid)" --timeout 0.5
  [ "$status" -eq 74 ]
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    [ -d "/proc/$(cat pid)" ] && ! grep -q '^State:.*[ZX]' "/proc/$(cat pid)/status" || break
    sleep 0.1
  done
  [ ! -d "/proc/$(cat pid)" ] || grep -q '^State:.*[ZX]' "/proc/$(cat pid)/status"
}

@test "garbage, wrong shapes, NaN and extra output are refused" {
  run attack --target-command "echo hello"
  [ "$status" -eq 65 ]
  [[ "$output" == *"'hello?' does not start like a .npy frame"* ]]
  run attack --target-command "$(serve classes 3)" --classes 3
  [ "$status" -eq 65 ]
  [[ "$output" == *"answered (120, 4) f4 to 120 rows; expected (120, 3) f4 probabilities"* ]]
  run attack --target-command "$(serve huge 3)" --classes 3
  [ "$status" -eq 65 ]
  run attack --target-command "$(serve rows 3)" --classes 3
  [ "$status" -eq 65 ]
  [[ "$output" == *"answered (119, 3) f4 to 120 rows"* ]]
  run attack --target-command "$(serve nan 3)" --classes 3
  [ "$status" -eq 65 ]
  [[ "$output" == *"1 of 120 rows contain NaN (first: row 1, column 1); probabilities must be finite"* ]]
  run attack --target-command "$(serve twice 3)"
  [ "$status" -eq 65 ]
  run attack --target-command "$(serve logits 3)"
  [ "$status" -eq 65 ]
  [[ "$output" == *"probabilities must sum to 1"* ]]
}

@test "options that contradict each other or are out of range" {
  run attack --target-command true --target head.safetensors
  [ "$status" -eq 64 ]
  run attack --target-command true --classes 1
  [ "$status" -eq 64 ]
  run attack --target-command true --timeout 0
  [ "$status" -eq 65 ]
  [[ "$output" == *"timeout must be > 0 s (got 0)"* ]]
  run attack --target-command "$(serve softmax 3)" --budget 100
  [ "$status" -eq 77 ]
}

@test "label-only attacks need nothing but labels" {
  for name in boundary noise; do
    "$SOTTO" attack $name --target-command "$(serve softmax 3)" --classes 3 --queries 20 --member-features x1.npy --member-labels y1.npy \
      --nonmember-features x2.npy --nonmember-labels y2.npy --json > a.json
    "$SOTTO" attack $name --target-command "$(serve labels 3)" --classes 3 --queries 20 --member-features x1.npy --member-labels y1.npy \
      --nonmember-features x2.npy --nonmember-labels y2.npy --json > b.json
    cmp a.json b.json
    grep -q '"queries_per_record":20' a.json
  done
}

@test "a command shows no weights; pictures have a shape" {
  run "$SOTTO" attack gradient-norm --target-command "$(serve softmax 3)" --member-features x1.npy --member-labels y1.npy \
    --nonmember-features x2.npy --nonmember-labels y2.npy
  [ "$status" -eq 64 ]
  [[ "$output" == *"gradient-norm needs the weights of the model, but this target only answers queries; give --target FILE"* ]]
  run attack --target-command true --image 3,4
  [ "$status" -eq 64 ]
  [[ "$output" == *"--image: '3,4' is not a shape; expected CHANNELS,HEIGHT,WIDTH such as 3,32,32"* ]]
}

@test "the NumPy example serves a head like sotto itself" {
  python3 -c 'import numpy' 2>/dev/null || skip "python3 has no numpy"
  "$SOTTO" head --features x1.npy --labels y1.npy --hidden 8 --epochs 5 -o h.safetensors
  python3 - <<'P'
import json, struct
import numpy as np
raw = open("h.safetensors", "rb").read()
size = struct.unpack("<Q", raw[:8])[0]
head = json.loads(raw[8:8 + size])
np.savez("h.npz", **{k: np.frombuffer(raw[8 + size:][slice(*v["data_offsets"])], "<f4").reshape(v["shape"])
                     for k, v in head.items() if k != "__metadata__"})
P
  attack --target h.safetensors > a.txt
  cp "$BATS_TEST_DIRNAME/../../examples/serve_numpy.py" .
  attack --target-command "python3 serve_numpy.py h.npz" > b.txt
  cmp a.txt b.txt
}
