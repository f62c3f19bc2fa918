#!/usr/bin/env bats
# shards: 4
# Ctrl-C, and what is shown while there is work: bench/interrupt starts every verb on work of 10 s and more and stops it; ten times
# the second that is promised, and the two without a word, are allowed here, for machines that are busy or slow. In make check a third
# of the cases, by the date of the commit, each stopped 0.2 s after its stage was shown; all cases at the landing; all, and 4 s, at night.

bats_require_minimum_version 1.5.0
load ../support/effort
load ../support/commit

@test "every verb answers Ctrl-C with its exit code, in time" {
  bench=$(realpath "$BATS_TEST_DIRNAME/../../bench/interrupt")
  export SOTTO
  SOTTO=$(realpath "$SOTTO")
  cd "$BATS_TEST_TMPDIR"
  parts=$(by_effort 3 1 1)
  part=$(part_of_day "$parts")
  echo "part $part"
  "$bench" w "$(by_effort 0.2 0.2 4)" "$part" > measured.txt 2> words.txt
  cat measured.txt words.txt
  [ "$(< w/cases)" -ge 26 ] # and those of the modules that were built
  [ "$(wc -l < measured.txt)" -ge $(($(< w/cases) / parts)) ]
  awk '$2 != 130 || $1 == "-" || $1 > 10 { print "too late, or another exit code: " $0; bad = 1 }
    $3 > 20 { print "nothing was shown: " $0; bad = 1 } END { exit bad }' measured.txt
}

@test "what is charged when Ctrl-C comes is released, whole" {
  cd "$BATS_TEST_TMPDIR"
  export XDG_DATA_HOME=$PWD
  printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (4000000,), }" > v.npy
  truncate -s 16000128 v.npy
  "$SOTTO" protect --vector v.npy --mechanism laplace --scale 2 --l1 1 --dataset-id p --ledger p.jsonl -o out.npy > out.txt 2> err.txt &
  pid=$!
  for _ in {1..6000}; do
    ! grep -q '"event":"release"' p.jsonl 2> /dev/null && kill -0 $pid 2> /dev/null || break
    sleep 0.01
  done
  kill -INT $pid 2> /dev/null || true # over already, on a machine that is fast
  wait $pid
  "$SOTTO" verify out.npy --ledger p.jsonl
}

@test "the stages of long verbs report progress" {
  cd "$BATS_TEST_TMPDIR"
  export XDG_DATA_HOME=$PWD/data
  "$SOTTO" data split synthetic-blobs-d8-k4-n900 --parts member=100,nonmember=100,attacker=600 -o b > /dev/null
  shows() { # STAGE command ...
    "$SOTTO" "${@:2}" --progress always > out.txt 2> err.txt
    tr '\r' '\n' < err.txt | grep -q "^$1 .*100 %" || { echo "no line of '$1':"; cat err.txt; return 1; }
  }
  one="--features b/member-features.npy --labels b/member-labels.npy"
  shows head head $one --epochs 3 -o h.safetensors
  shows sensitivity sensitivity $one --pairs 2 --epochs 2 -o s.json
  shows train train --data b/member-features.npy:b/member-labels.npy --model mlp --hidden 8 --epochs 2 --dtype f32 --backend dnnl -o t.safetensors
  shows embed embed --data synthetic-images-n60 --encoder scattering -o x.npy
  shows pretrain pretrain --data synthetic-images-n60 --batch 20 --epochs 1 --dtype f32 --backend dnnl -o e.safetensors
  for part in member nonmember; do
    "$SOTTO" predict --head h.safetensors --features b/$part-features.npy --logits -o $part.npy > /dev/null
  done
  shows audit audit --member-logits member.npy --nonmember-logits nonmember.npy
  shows shadows attack shokri --target h.safetensors --shadows 2 --member-features b/member-features.npy --member-labels b/member-labels.npy \
    --nonmember-features b/nonmember-features.npy --nonmember-labels b/nonmember-labels.npy \
    --attacker-features b/attacker-features.npy --attacker-labels b/attacker-labels.npy
}

@test "work that reports nothing shows that it goes on" {
  cd "$BATS_TEST_TMPDIR"
  "$SOTTO" account --mechanism gaussian --noise-multiplier 0.7 --sample-rate 0.01 --steps 1000000 --delta 1e-5 --certified \
    --progress always > out.txt 2> err.txt &
  pid=$!
  for _ in {1..300}; do
    grep -q "account .*working, 0:" err.txt && break
    sleep 0.1
  done
  kill -INT $pid
  wait $pid || true
  grep -q "account .*working, 0:" err.txt
  "$SOTTO" account --mechanism laplace --scale 1 --l1 1 --delta 1e-5 --progress always > out.txt 2> err.txt
  run -1 grep working err.txt
}
