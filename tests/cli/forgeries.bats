#!/usr/bin/env bats
# Forged releases: 'sotto verify' and the stand-alone verifier both refuse each of them, and accept what is honest (forgeries.py). A
# part of the forgeries is asked about, by the date of the commit: every 7th to 17th in make check, every third at a landing; all at night.
# shards: 5

load ../support/verifier
load ../support/effort
load ../support/commit

# agree EACH NAME...: of NAMEs' forgeries every EACHth with effort 1
agree() {
  "$python" "$root/tests/cli/forgeries.py" "$verifier" "$SOTTO" "$(part_of_day "$(by_effort "$1" 3 1)")" "${@:2}"
}

@test "forged arrays: laplace, gaussian, logistic and K-norm noise" {
  "$python" -c 'import struct
header = "{%r: %r, %r: False, %r: %r, }" % ("descr", "<f8", "fortran_order", "shape", (12,))
header += " " * (-(len(header) + 11) % 64) + "\n"
open("d.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<12d", *(i / 7 for i in range(12))))'
  protect laplace --vector d.npy --mechanism laplace --epsilon 1 --l1 0.01
  protect gaussian --vector v.npy --mechanism gaussian --epsilon 1 --delta 1e-5 --l2 0.01
  protect logistic --vector d.npy --mechanism logistic --epsilon 1 --delta 1e-5 --l2 0.01
  protect knorm --vector d.npy --mechanism knorm --epsilon 1 --delta 1e-5 --l2 0.01
  agree 17 laplace gaussian logistic knorm
}

@test "forged arrays: discrete noise, labels, a mean" {
  protect whole --vector w.npy --mechanism discrete-laplace --epsilon 1 --delta 1e-4 --l1 3 --l2 2
  protect labels --vector y.npy --mechanism randomised-response --epsilon 1 --delta 1e-4 --classes 2 --l1 1
  protect mean --table t.npy --statistic mean --range 0,1 --mechanism gaussian --epsilon 1 --delta 1e-5
  agree 17 whole labels mean
}

@test "forged heads: a convex one with noise, one by DP-SGD" {
  "$SOTTO" head --features x.npy --labels y.npy --classes 2 --trainer convex --quiet -o unprotected.safetensors > /dev/null
  "$SOTTO" protect --head unprotected.safetensors --dataset-id convex --ledger convex.jsonl --epsilon 1 --delta 1e-5 --quiet -o convex.safetensors > /dev/null
  head_by dp-sgd --batch 8 --epochs 1
  agree 7 convex dp-sgd
}

@test "a forged network" {
  "$SOTTO" train --data synthetic-images-n60 --model cnn --dp-sgd --batch 30 --epochs 1 --epsilon 0.3 --delta 1e-3 --ledger network.jsonl --dtype f32 \
    --backend dnnl --quiet -o network.safetensors > /dev/null
  agree 9 network
}

@test "a table of forgeries: numbers, JSON, signatures, ledgers; a sixth of its rows, a half at a landing, all at night" {
  three_releases
  "$python" "$root/tests/cli/forged_rows.py" "$verifier" "$SOTTO" "$(part_of_day "$(by_effort 6 2 1)")" mean run planned
}
