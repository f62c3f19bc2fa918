#!/usr/bin/env bats
# sotto inspect: every kind of file, and what is refused.

setup() {
  dir=$(mktemp -d)
  golden="$BATS_TEST_DIRNAME/../golden/known/formats"
  corpus="$BATS_TEST_DIRNAME/../fuzz/corpus"
}
teardown() { rm -rf "$dir"; }

@test "npy: dtype, shape, statistics" {
  run "$SOTTO" inspect "$golden/f4.npy"
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = "$golden/f4.npy: npy, 176 bytes" ]
  [ "${lines[1]}" = "  f4 (3, 4)  min -1.25  max 1.5  mean 0.125  NaN 0  infinite 0" ]
}

@test "--json prints one object with the same numbers" {
  run "$SOTTO" inspect "$golden/f4.npy" --json
  [ "$status" -eq 0 ]
  [[ "$output" == '{'*'"schema": "sotto.inspect/1"'*'"kind": "npy"'*'"min": -1.25'*'}' ]]
}

@test "npz and safetensors: names and metadata" {
  run "$SOTTO" inspect "$golden/deflated.npz"
  [ "$status" -eq 0 ]
  [[ "$output" == *"npz, "*"  zeros  f8 (100, 100)"* ]]
  run "$SOTTO" inspect "$golden/numpy.safetensors"
  [ "$status" -eq 0 ]
  [[ "$output" == *"safetensors, "*"  bool  b1 (3, 4)"*"  note: hello"* ]]
}

@test "JSON, CSV, YAML" {
  echo '{"schema": "sotto.account/1", "epsilon": 1}' > "$dir/a.json"
  run "$SOTTO" inspect "$dir/a.json"
  [ "$status" -eq 0 ]
  [[ "$output" == *"  schema: sotto.account/1"*"  keys: schema, epsilon"* ]]
  printf 'x,y\n1,2\n3,4\n' > "$dir/a.csv"
  run "$SOTTO" inspect "$dir/a.csv"
  [[ "$output" == *"csv, "*"  2 rows, 2 columns"*"  keys: x, y"* ]]
  printf 'name: x\nseed: 1\n' > "$dir/a.yaml"
  run "$SOTTO" inspect "$dir/a.yaml"
  [[ "$output" == *"yaml, "*"  keys: name, seed"* ]]
}

@test "IDX, plain and compressed; cut" {
  printf '\0\0\x08\x02\0\0\0\x02\0\0\0\x03abcdef' > "$dir/a-idx2-ubyte"
  run "$SOTTO" inspect "$dir/a-idx2-ubyte"
  [ "$status" -eq 0 ]
  [[ "$output" == *"idx, 18 bytes"*"  u1 (2, 3)" ]]
  gzip "$dir/a-idx2-ubyte"
  run "$SOTTO" inspect "$dir/a-idx2-ubyte.gz"
  [ "$status" -eq 0 ]
  printf '\0\0\x08\x02\0\0\0\x02\0\0\0\x03abcde' > "$dir/b"
  run "$SOTTO" inspect "$dir/b"
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: $dir/b: header states 6 bytes of data but the file has 5; the file is cut or damaged" ]
}

@test "bad input: one line, exit 65 or 66" {
  cp "$corpus/safetensors/seed-huge-header" "$dir/head.safetensors"
  run "$SOTTO" inspect "$dir/head.safetensors"
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: $dir/head.safetensors: header states 8 EiB but the file has 10 bytes; the file is cut or damaged" ]
  run "$SOTTO" inspect "$golden/object.npy"
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: $golden/object.npy: dtype '|O' means pickled Python objects, which could run code; save float32 with allow_pickle=False" ]
  run "$SOTTO" inspect "$dir/none.npy"
  [ "$status" -eq 66 ]
  run "$SOTTO" inspect "$dir"
  [ "$status" -eq 66 ]
  : > "$dir/empty.npy"
  run "$SOTTO" inspect "$dir/empty.npy"
  [ "$status" -eq 65 ]
  [ "$output" = "sotto: error: $dir/empty.npy: has 0 bytes; too short for a .npy file" ]
  echo hello > "$dir/x"
  run "$SOTTO" inspect "$dir/x"
  [ "$status" -eq 65 ]
}

# peak FILE COMMAND...: the command's largest resident memory, in MiB, and what it prints in FILE
peak() {
  python3 - "$@" << 'PY'
import resource, subprocess, sys
with open(sys.argv[1], "w") as said:
    subprocess.run(sys.argv[2:], check=True, stdout=said)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
PY
}
# large NAME TYPE ROWS COLUMNS: zeros, which take no room on the disk
large() {
  printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '$2', 'fortran_order': False, 'shape': ($3, $4), }" > "$1"
  truncate -s $((128 + $3 * $4 * ${2: -1})) "$1"
}

@test "memory does not grow with a file" {
  cd "$BATS_TEST_TMPDIR"
  large x.npy '<f4' 800000 100
  few=$(peak small.txt "$SOTTO" inspect "$golden/f4.npy")
  much=$(peak said.txt "$SOTTO" inspect x.npy)
  echo "$few MiB, $much MiB"
  grep -q '(800000, 100)' said.txt
  [ "$much" -lt $((few + 60)) ] # of 305 MiB
}

@test "blocks of a large file are numbered as one" {
  cd "$BATS_TEST_TMPDIR"
  large b.npy '|b1' 1500000 1
  printf '\2' | dd of=b.npy bs=1 seek=$((128 + 1400000)) conv=notrunc status=none
  run "$SOTTO" inspect b.npy
  [ "$status" -eq 65 ]
  [[ "$output" == *"b.npy: boolean 1400000 is stored as 2; expected 0 or 1"* ]]
  large x.npy '>f8' 600000 3
  printf '\xc0\x08' | dd of=x.npy bs=1 seek=$((128 + 8 * 1700000)) conv=notrunc status=none # -3
  printf '\x7f\xf8' | dd of=x.npy bs=1 seek=$((128 + 8 * 1799999)) conv=notrunc status=none # NaN
  run "$SOTTO" inspect x.npy --json
  [[ "$(tr -d ' \n' <<< "$output")" == *'"shape":[600000,3],"min":-3.0,"max":0.0,"mean":-1.666667592593123e-6,"nan":1,"infinite":0'* ]]
}
