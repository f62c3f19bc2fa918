#!/usr/bin/env bash
# Certificate (upper) and canary audit (lower) on one page, for DP-SGD at epsilon 2, 4 and 8 on Fashion-MNIST: a linear head on the pixels and
# a convolutional network, white box (dirac canaries, an observer of all steps) and black box (the model's loss on canaries that are records).
# canary-audit.sh FOLDER [EPSILON ...]: x.npy (60000, 784) f4 in [0, 1] and y.npy of the training part, and xt.npy of the test part (public, for
# clipbkd), lie in FOLDER. One run each; the numbers of guesses were fixed before the coins were opened. Zero-out adjacency but for replacement
# canaries, delta 1e-5.
set -euo pipefail
cd "$1"; shift
sotto=${SOTTO:-sotto}
privacy=(--delta 1e-5 --adjacency zero-out --ledger ledger.jsonl)

audit() { # NAME SCORE GUESSES [OPTION ...]
  "$sotto" audit --one-run "$3" --delta 1e-5 --coin-file "$1.coins.json" --scores "$1.canaries.npz:$2" --certificate "$1.certificate.json" \
    --ledger ledger.jsonl -o "$1-page" --quiet "${@:4}"
}
for epsilon in "${@:-8 4 2}"; do
  for e in $epsilon; do
    head=(head --features x.npy --labels y.npy --classes 10 --dataset-id fashion-mnist-pixels --trainer dp-sgd --batch 4096 --epochs 40 --lr 0.2
      --max-grad-norm 16 --epsilon "$e" "${privacy[@]}" --quiet)
    "$sotto" "${head[@]}" --canaries 7000 --canary-kind dirac -o "head-$e-white"
    audit "head-$e-white" white_box 150
    "$sotto" "${head[@]/zero-out/replace-one}" --canaries 7000 --canary-kind dirac -o "head-$e-replace"
    audit "head-$e-replace" white_box 150 --coins replacement
    for kind in mislabelled random in-distribution; do
      "$sotto" "${head[@]}" --canaries 2000 --canary-kind "$kind" -o "head-$e-$kind"
      audit "head-$e-$kind" black_box 100
    done
    "$sotto" "${head[@]}" --canaries 700 --canary-kind clipbkd --canary-public xt.npy -o "head-$e-clipbkd"
    audit "head-$e-clipbkd" black_box 35
    cnn=(train --data fashion-mnist --split train --model cnn --hidden "16,32,64" --dp-sgd --batch 2048 --epochs 20 --optimizer sgd --lr 1 --max-grad-norm 1
      --epsilon "$e" "${privacy[@]}" --quiet)
    cnn=("${cnn[@]/ledger.jsonl/cnn.jsonl}")
    "$sotto" "${cnn[@]}" --canaries 10000 --canary-kind dirac -o "cnn-$e-white"
    "$sotto" "${cnn[@]}" --canaries 2000 --canary-kind random -o "cnn-$e-black"
    for kind in white black; do
      "$sotto" audit --one-run 100 --delta 1e-5 --coin-file "cnn-$e-$kind.coins.json" --scores "cnn-$e-$kind.canaries.npz:${kind}_box" \
        --certificate "cnn-$e-$kind.certificate.json" -o "cnn-$e-$kind-page" --quiet
    done
  done
done
