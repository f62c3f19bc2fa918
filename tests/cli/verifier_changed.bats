#!/usr/bin/env bats
# The stand-alone verifier in Python's standard library, beside 'sotto verify': both say the same of certificates and signatures that
# were changed member by member.
# shards: 2

load ../support/verifier

@test "each member of a certificate changed: both verifiers answer alike" {
  protect logistic --vector v.npy --mechanism logistic --epsilon 1 --delta 1e-5 --l2 0.01
  head_by dp-sgd --batch 8 --epochs 2
  "$python" "$cases" "$verifier" members "$SOTTO" logistic dp-sgd
}

@test "what only the certificate says is not called proved: a stated sensitivity that was edited to a clipped one" {
  protect stated --vector v.npy --mechanism gaussian --epsilon 1 --delta 1e-5 --l2 0.01
  "$python" -c 'import json
with open("stated.npy.certificate.json") as f:
    c = json.load(f)
c["sensitivity"].update(source="clipped", statement="enforced by clipping")
account = c["guarantee"]["conditional"]
del account["condition"]
line = "(%.6g, %g)-differentially private under %s adjacency, accountant: %s" % (account["epsilon"]["upper"], account["delta"], account["adjacency"], account["accountant"])
c["guarantee"] = {"proved": account, "conditional": None, "statement": line}
with open("stated.npy.certificate.json", "w") as f:
    json.dump(c, f, indent=2)'
  "$SOTTO" verify stated.npy > c.txt
  "$python" "$verifier" stated.npy > python.txt
  for text in c.txt python.txt; do
    grep -q "^  proved       the account alone, for noise of that scale and the stated sensitivity$" "$text"
    grep -q "not checked .*the sensitivity, which is taken from the certificate; and that training followed its recipe" "$text"
    grep -q "^  conditional  only if all of this is true: One unit of privacy changes the values by no more than the certificate says, which was not derived again here.$" "$text"
  done
  "$SOTTO" verify stated.npy --json > c.json
  grep -q '"guarantee": "conditional"' c.json
  "$SOTTO" certificate stated.npy > page.txt
  tr -s '\n ' ' ' < page.txt | grep -q "no more than the certificate says, which was not derived again here."
  if grep -q "Guarantee  *proved" page.txt; then cat page.txt; false; fi
  for call in "$SOTTO verify" "$python $verifier"; do # the ledger knows what was stated
    run $call stated.npy --ledger stated.jsonl
    [ "$status" -eq 1 ]
    [[ "$output" == *"does NOT verify"* ]]
  done
}

@test "a statistic is held against its range and the number of records" {
  protect mean --table t.npy --statistic mean --range 0,1 --mechanism gaussian --epsilon 1 --delta 1e-5
  protect shares --table t.npy --statistic mean --range 0,1 --mechanism permute-and-flip --epsilon 1
  protect middle --table t.npy --statistic median --range 0,1 --mechanism smooth-median --epsilon 1
  protect often --table y.npy --statistic most-frequent --mechanism propose-test-release --classes 2 --epsilon 1 --delta 1e-5
  for name in mean shares middle often; do
    "$SOTTO" verify $name.npy > c.txt
    grep -q "^  proved       sensitivity and account, for the stated statistic of so many records$" c.txt
    "$python" "$verifier" $name.npy > python.txt
    [ $name = often ] || [ "$(grep "^  proved  \|^  conditional" c.txt)" = "$(grep "^  proved  \|^  conditional" python.txt)" ]
  done
  cp mean.npy.certificate.json honest
  for edit in 's/"records": 40/"records": 4000/' 's/"records": 40/"records": null/' 's/"l1": 0.025/"l1": 0.0025/' \
    's/"source": "clipped"/"source": "proved"/' '/"range"/,/\]/s/1.0/100.0/' 's/"name": "mean"/"name": "chi-square-alleles"/'; do
    sed "$edit" honest > mean.npy.certificate.json
    if cmp -s honest mean.npy.certificate.json; then echo "$edit changes nothing"; false; fi
    "$SOTTO" verify mean.npy > c.txt && c=0 || c=$?
    "$python" "$verifier" mean.npy > python.txt 2>&1 && p=0 || p=$?
    # without the number of records nothing is derived, and nothing is called proved
    if [[ "$edit" == *null* ]]; then grep -q "which was not derived again here" c.txt; grep -q "which was not derived again here" python.txt; else [ "$c$p" = 11 ] || { echo "$edit: $c $p"; cat c.txt python.txt; false; }; fi
  done
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
  "$python" "$verifier" dp-sgd.safetensors --trust "0x$(grep -o '"public_key":[ ]*"[0-9a-f]*' office.key.pub | grep -o '[0-9a-f]\{64\}' | tr a-f A-F | sed 's/./& /9')" > out # as a person pastes it
  grep -q "consistent, signed" out
  cp dp-sgd.safetensors.certificate.json kept
  echo >> dp-sgd.safetensors.certificate.json
  refused 1 "which was changed after it was signed" dp-sgd.safetensors --trust office.key.pub
  mv kept dp-sgd.safetensors.certificate.json
  "$python" "$cases" "$verifier" signatures "$SOTTO" dp-sgd.safetensors office.key.pub
}
