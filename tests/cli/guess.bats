#!/usr/bin/env bats
# Every option that takes a name from a list suggests the name that a near miss means, and leaves nothing behind.

setup_file() {
  cd "$BATS_FILE_TMPDIR"
  export XDG_DATA_HOME=$PWD/xdg
  python3 - <<'P'
import csv
rows = [(i % 2, i / 40, -i / 40) for i in range(40)]
for name, part in (("x.csv", [r[1:] for r in rows]), ("y.csv", [r[:1] for r in rows]), ("l.csv", [(r[1], -r[1]) for r in rows]), ("p.csv", [(.25, .75) for r in rows])):
    csv.writer(open(name, "w")).writerows(part)
P
  "$SOTTO" data import x.csv:y.csv --name people --dataset-id people --quiet
}

setup() {
  cd "$BATS_FILE_TMPDIR"
}

# meant NAME COMMAND...: refused as a mistake of the caller, in one line that suggests NAME
meant() {
  local name=$1
  shift
  local output_option=(-o made.npy)
  [ "$1" != account ] || output_option=()
  run "$SOTTO" "$@" "${output_option[@]}" --quiet
  echo "$* -> $status: $output"
  [ "$status" -eq 64 ] || [ "$status" -eq 65 ]
  [[ "${lines[0]}" == *"; did you mean '$name'?" ]]
  [ ! -e made.npy ]
}

@test "heads" {
  head=(head --features x.csv --labels y.csv --classes 2)
  meant dp-sgd "${head[@]}" --trainer dpsgd
  meant dp-sgd "${head[@]}" --trainer dpsgd --epsilon 1 --dataset-id people
  meant convex-lbfgs "${head[@]}" --trainer lbfgs
  meant always "${head[@]}" --progress allways
  private=("${head[@]}" --epsilon 1 --dataset-id people --ledger l.jsonl)
  meant gaussian "${private[@]}" --trainer dp-sgd --noise gausian
  meant logistic "${private[@]}" --trainer covariance --noise logstic
  meant zero-out "${private[@]}" --trainer dp-adam --adjacency zeroout
  meant poisson "${private[@]}" --trainer dp-adam --sampling poison
  meant mislabelled "${head[@]}" --canaries 4 --canary-kind mislabled
}

@test "networks" {
  train=(train --data x.csv:y.csv --batch 10)
  meant mlp "${train[@]}" --model mpl
  meant adam "${train[@]}" --optimizer adma
  meant cosine "${train[@]}" --schedule cosin
  meant exact "${train[@]}" --model mlp --order exct
  meant group "${train[@]}" --norm grup
  meant f32 "${train[@]}" --model mlp --dtype f23
  meant dnnl "${train[@]}" --model mlp --backend dnl
  meant additive "${train[@]}" --residual-perturbation aditive
  meant none "${train[@]}" --freeze non --from x.safetensors
  meant train "${train[@]}" --split trian
  private=(train --data people --model mlp --dp-sgd --epsilon 1 --batch 10 --classes 2)
  meant automatic "${private[@]}" --clipping automatc
  meant gaussian "${private[@]}" --noise gausian
  meant zero-out "${private[@]}" --adjacency zeroout
  meant fixed "${private[@]}" --sampling fixt
}

@test "encoders and generators" {
  pretrain=(pretrain --data synthetic-images-n200 --batch 50)
  meant simclr "${pretrain[@]}" --method simlcr
  meant resnet18 "${pretrain[@]}" --encoder restnet18
  meant keras "${pretrain[@]}" --loss kears
  meant simclr "${pretrain[@]}" --augmentation simcrl
  meant cosine "${pretrain[@]}" --schedule cosinus
  meant odd-even "${pretrain[@]}" --talos --alternation oddeven
  meant images "${pretrain[@]}" --talos --adversary-reads imagse
  meant resnet18 encoder import x.safetensors --model resnet-18 --statement "public, by a test"
  meant keras-simclr embed --data synthetic-images-n200 --random keras-simcrl
  meant wgan-gp generate train --data synthetic-images-n200 --model wgangp
}

@test "releases and accounts" {
  meant laplace protect --vector x.csv --mechanism lapalce --epsilon 1 --l1 1 --dataset-id people
  meant gaussian account --mechanism gausian --scale 1 --l2 1 --delta 1e-5
  meant add-remove account --mechanism gaussian --scale 1 --l2 1 --delta 1e-5 --adjacency addremove
  meant optimal account --rule optimum --parts 1
  meant index account --rule parallel --parts "1;2" --parts-by indx
}

@test "attacks and defences" {
  audit=(audit --member-logits l.csv --member-labels y.csv --nonmember-logits l.csv --nonmember-labels y.csv)
  meant modified-entropy "${audit[@]}" --attack modified-entropi
  meant lira "${audit[@]}" --set liar.prior=1
  meant prior "${audit[@]}" --set lira.priro=1
  meant inclusion "${audit[@]}" --coins inclusoin
  meant memguard defend memgard --input p.csv --known p.csv:1
  "$SOTTO" head --features x.csv --labels y.csv --epochs 1 -o h.safetensors --quiet
  meant ml-leaks-1 attack ml-leaks1 --target h.safetensors --member-features x.csv --member-labels y.csv --nonmember-features x.csv --nonmember-labels y.csv
}

@test "actions and data sets" {
  for pair in "key nwe new" "ledger shwo show" "data imprt import" "generate trian train" "demo sd sde"; do
    read -r verb given name <<< "$pair"
    run "$SOTTO" "$verb" "$given"
    [ "$status" -eq 64 ]
    [[ "$output" == *"'$given' is unknown; expected "*"; did you mean '$name'?" ]]
  done
  run "$SOTTO" data info peopel
  [ "$status" -eq 66 ]
  [[ "${lines[0]}" == *"; did you mean 'people'?" ]]
}

@test "what is near to no name is met by the list alone" {
  run "$SOTTO" head --features x.csv --labels y.csv --trainer xyz -o made.npy
  [ "$status" -eq 65 ]
  [[ "$output" == *"expected adam, sgd, convex, "*" or taylor" ]]
  run "$SOTTO" head --features x.csv --labels y.csv --epochs x -o made.npy
  [ "$status" -eq 64 ]
  [[ "$output" != *"did you mean"* ]]
}
