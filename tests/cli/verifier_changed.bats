#!/usr/bin/env bats
# The stand-alone verifier in Python's standard library, beside 'sotto verify': both say the same of certificates and signatures that
# were changed member by member.

load ../support/verifier

@test "each member of a certificate changed: both verifiers answer alike" {
  protect logistic --vector v.npy --mechanism logistic --epsilon 1 --delta 1e-5 --l2 0.01
  head_by dp-sgd --batch 8 --epochs 2
  "$python" "$cases" "$verifier" members "$SOTTO" logistic dp-sgd
}

@test "signatures: both verifiers refuse the same ones; --trust wants a named key" {
  "$SOTTO" key new -o office.key > /dev/null
  "$SOTTO" key new -o other.key > /dev/null
  head_by dp-sgd --batch 8 --epochs 1
  refused 1 "there is none; --trust needs one" dp-sgd.safetensors --trust office.key.pub
  "$SOTTO" key sign dp-sgd.safetensors.certificate.json --key office.key > /dev/null
  "$python" "$verifier" dp-sgd.safetensors --trust other.key.pub --trust office.key > out
  grep -q "consistent, signed" out
  refused 1 "by a key that --trust does not name" dp-sgd.safetensors --trust other.key.pub
  "$python" "$cases" "$verifier" signatures "$SOTTO" dp-sgd.safetensors office.key.pub
}
