#!/usr/bin/env bats
# What sotto verify's exit codes say, and the cards of a certificate for registries and model hubs.

bats_require_minimum_version 1.5.0

setup_file() {
  cd "$BATS_FILE_TMPDIR" || exit 1
  export XDG_DATA_HOME=$PWD/data
  "$SOTTO" embed --data synthetic-images-n60 --encoder scattering --labels-out y.npy -o x.npy --quiet > /dev/null
  "$SOTTO" ledger init --dataset-id synthetic-images-n60 --budget 5,1e-2 --contact "privacy@example.org" --curator 'Klinik "Nord"' --use "ward <outcomes>" \
    --region Germany --sector health --rationale "as the ethics board asked" --ledger l.jsonl > /dev/null
  "$SOTTO" head --features x.npy --labels y.npy --classes 10 --trainer dp-sgd --batch 20 --epochs 1 --epsilon 0.3 --delta 1e-3 --ledger l.jsonl \
    --quiet -o h.safetensors > /dev/null 2>&1
}
setup() {
  cd "$BATS_TEST_TMPDIR" || exit 1
  export XDG_DATA_HOME=$PWD/data
  cp "$BATS_FILE_TMPDIR"/*.* .
}

@test "verify: 0 holds, 1 does not hold, 2 is not decided" {
  run -0 "$SOTTO" verify h.safetensors --ledger l.jsonl
  [[ "$output" == *": consistent, NOT signed"* ]]
  sed 's/"records": 60/"records": 61/' h.safetensors.certificate.json > changed.json
  run -1 "$SOTTO" verify changed.json --released h.safetensors
  [[ "$output" == *"does NOT verify"* && "$output" != *proved* && "$output" != *claim* && "$output" != *"checked "* ]]
  mkdir alone
  sed 's/"mechanism": "gaussian"/"mechanism": "laplace"/' h.safetensors.certificate.json > alone/laplace.certificate.json
  run -2 "$SOTTO" verify alone/laplace.certificate.json # laplace noise has no bound under clipping by L2
  [[ "$output" == *"NOT decided: mechanism 'laplace' has no bound"* && "$output" == *"proved       none"* ]]
  run -2 "$SOTTO" verify alone/laplace.certificate.json --json
  [[ "$output" == *'"valid": false'*'"failed": null'*'"undecided": "mechanism '* ]]
  run -2 "$SOTTO" certificate alone/laplace.certificate.json
  [[ "$output" == *"NOT DECIDED"* && "$output" != *"Epsilon "* ]]
  sed -i 's/"max_grad_norm": 1.0/"max_grad_norm": 2.0/' alone/laplace.certificate.json # and wrong: that is decided
  run -1 "$SOTTO" verify alone/laplace.certificate.json
}

@test "what the officer said stands in the ledger and on the page" {
  "$SOTTO" ledger show l.jsonl --json > show.json
  grep -qF '"rationale": "as the ethics board asked"' show.json
  "$SOTTO" certificate h.safetensors --ledger l.jsonl --html -o page.html
  grep -qF 'Released by <bdi>Klinik &quot;Nord&quot;</bdi>' page.html
  grep -qF 'ward &lt;outcomes&gt;' page.html
  "$SOTTO" certificate h.safetensors --ledger l.jsonl > text
  grep -q "Curator  *Klinik" text
  grep -q "Region  *Germany" text
  grep -q "SP 800-226  *answered here" text
  run -65 "$SOTTO" ledger init --dataset-id other --budget 1 --use "$(printf 'x%.0s' $(seq 301))" --ledger o.jsonl
  [[ "$output" == *"301 bytes; expected at most 300"* ]]
  [ ! -e o.jsonl ]
  run -64 "$SOTTO" ledger show l.jsonl --region Germany
  [[ "$output" == *"--region is an option of 'ledger init'"* ]]
}

@test "a card for a registry is YAML, and null is what nobody said" {
  "$SOTTO" certificate h.safetensors --ledger l.jsonl --card card.yaml > text
  grep -qxF '  curator: "Klinik \"Nord\""' card.yaml
  grep -qxF '  use: "ward <outcomes>"' card.yaml
  grep -qxF '  epsilon: 0.3' card.yaml
  grep -qxF '  standing: "proved"' card.yaml
  grep -qxF '  conditions: []' card.yaml
  grep -qxF '  accountant: "privacy-loss distribution"' card.yaml
  grep -qxF 'accuracy_by_class: null' card.yaml
  grep -qF "$(sha256sum h.safetensors | cut -d' ' -f1)" card.yaml
  "$SOTTO" certificate h.safetensors --card none.yaml > text
  grep -qxF '  curator: null' none.yaml
  grep -qxF '  budget_epsilon: null' none.yaml
  if python3 -c 'import yaml' 2> /dev/null; then
    python3 -c 'import yaml; c = yaml.safe_load(open("card.yaml")); assert c["deployment"]["curator"] == "Klinik \"Nord\"" and c["guarantee"]["delta"] == 0.001, c'
  fi
}

@test "a block for a model hub, with accuracy by class where an audit has it" {
  awk 'BEGIN { srand(3); for (i = 0; i < 400; i++) { y = i % 4; for (k = 0; k < 4; k++) printf "%s%.6f", k ? "," : "", rand() + (k == y); print "" } }' > m.csv
  awk 'BEGIN { for (i = 0; i < 400; i++) print i < 20 ? 0 : i % 4 }' > c.csv
  "$SOTTO" audit --member-logits m.csv --nonmember-logits m.csv --member-labels c.csv --nonmember-labels c.csv --bootstrap 100 -o audit > /dev/null
  "$SOTTO" certificate h.safetensors --ledger l.jsonl --model-card block.md --card card.yaml --audit audit/result.json > text
  grep -q '^Proved: epsilon at most 0.3 at delta 0.001 for one record' block.md
  grep -qF -- '- **Use:** ward \<outcomes\>' block.md
  [ "$(grep -cE '^\| [0-3] \| [0-9.]+ \| [0-9.]+ to [0-9.]+ \| (115|95) \|$' block.md)" -eq 4 ]
  [ "$(grep -c '^  - {class: [0-3], estimate: ' card.yaml)" -eq 4 ]
  grep -qx 'most_frequent_class_share: 0.2875' card.yaml
  mean=$(awk -F'[:,]' '/- \{class/ { s += $4 } END { print s / 4 }' card.yaml)
  awk -v mean="$mean" '$1 == "balanced_accuracy:" { d = $2 - mean; found = d * d < 1e-6 } END { exit !found }' card.yaml
  "$SOTTO" certificate h.safetensors --ledger l.jsonl --audit audit/result.json > text
  tr -s '\n ' ' ' < text | grep -qE 'Accuracy by class class 0: [0-9.]+ % \([0-9.]+ to [0-9.]+ %\); class 1: .*; class 3: [0-9.]+ % \([0-9.]+ to [0-9.]+ %\); their mean: [0-9.]+ %; always the most frequent class: 28\.7 % Model of trust'
  "$SOTTO" certificate h.safetensors --audit audit/result.json --html -o page.html
  grep -q 'Accuracy by class.*class 3: [0-9.]* %' page.html
  "$SOTTO" certificate h.safetensors --html -o page.html
  run -1 grep -q 'Accuracy by class' page.html
  "$SOTTO" audit --member-losses <(seq 100) --nonmember-losses <(seq 100) --fpr 0.05 --bootstrap 100 -o losses > /dev/null
  run -65 "$SOTTO" certificate h.safetensors --card none.yaml --audit losses/result.json
  [[ "$output" == *"has no accuracy by class"* ]]
  run -65 "$SOTTO" certificate h.safetensors --html -o none.html --audit losses/result.json
  [[ "$output" == *"has no accuracy by class"* && ! -e none.html ]]
  sed -i 's/"records": 60/"records": 61/' h.safetensors.certificate.json
  run -1 "$SOTTO" certificate h.safetensors --card bad.yaml --model-card bad.md
  [ ! -e bad.yaml ]
  [ ! -e bad.md ]
}
