#!/usr/bin/env bats
# shards: 3
# 'sotto ledger plan' and 'protect --planned': from file to file.

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  export XDG_DATA_HOME=$PWD
  tree=$BATS_TEST_DIRNAME/../..
  printf '%s\n' 'schema: sotto.events/1' 'adjacency: replace-one' 'events:' \
    '  - {mechanism: gaussian, scale: 0.01, l1: 0.001, l2: 0.001}' \
    '  - {mechanism: laplace, scale: 0.01, l1: 0.001, count: 2}' > events.yaml
  # version 1.0 of the format: one f8, 0.5
  printf '\x93NUMPY\x01\x00\x46\x00%-69s\n\x00\x00\x00\x00\x00\x00\xe0\x3f' "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }" > v.npy
}
plan() { "$SOTTO" ledger plan events.yaml --dataset-id people --delta 1e-6 "$@"; }
protect() { "$SOTTO" protect --vector v.npy --dataset-id people --l1 0.001 "$@"; }
forge() { # FROM TO: in the last line that has FROM, with a chain that fits
  python3 - "$ledger" "$1" "$2" << 'END'
import hashlib, re, sys
path, old, new = sys.argv[1:]
lines, before = open(path).read().splitlines(), "0" * 64
last = max(i for i, line in enumerate(lines) if old in line)
with open("forged.jsonl", "w") as out:
  for i, line in enumerate(lines):
      line = line.replace(old, new) if i == last else line
      line = re.sub(r'"prev":"[0-9a-f]{64}"', f'"prev":"{before}"', line[:-75] + "}")
      before = hashlib.sha256(line.encode()).hexdigest()
      out.write(line[:-1] + f',"hash":"{before}"}}\n')
END
}
id() { sed -n 's/.*"event":"plan".*"hash":"\([0-9a-f]*\)".*/\1/p' sotto/ledger/people.jsonl | tail -n 1; }

@test "a plan is charged once, and its releases cost nothing more" {
  plan --budget 1,1e-6 > said
  grep -q '^plan [0-9a-f]*: epsilon 0.564446 at delta 1e-06' said
  grep -q '^  slot 2 to 3: laplace, scale 0.01, l1 0.001' said
  ledger=sotto/ledger/people.jsonl
  "$SOTTO" ledger show "$ledger" | grep '^total' > before
  protect --planned "$(id):1" --mechanism gaussian --scale 0.01 --l2 0.001 --delta 1e-6 -o a.npy > /dev/null
  protect --planned "$(id):3" --mechanism laplace --scale 0.01 -o b.npy > /dev/null
  "$SOTTO" ledger show "$ledger" | tee shown | grep '^total' > after
  cmp before after
  grep -q "(slot 3 of $(id | head -c 8))" shown
  grep -qx "plan $(id | head -c 16): 2 of 3 slots spent" shown
  for name in a b; do
    "$SOTTO" verify $name.npy.certificate.json --ledger "$ledger" | grep -q "slot . of plan $(id | head -c 16), which the ledger counts once"
    "$SOTTO" certificate $name.npy --ledger "$ledger" | grep -q "slot . of plan $(id | head -c 16): charged before it was made"
    grep -q "\"id\": \"$(id)\"" $name.npy.certificate.json
  done
  cp "$ledger" kept
  run protect --planned "$(id):3" --mechanism laplace --scale 0.01 -o c.npy
  [ "$status" -eq 77 ]
  [[ "$output" == *"slot 3 of plan $(id | head -c 16) is spent, whatever came of its release; give another slot, or make another plan" ]]
  run protect --planned "$(id):2" --mechanism laplace --scale 0.02 -o c.npy
  [ "$status" -eq 65 ]
  [[ "$output" == *"scale is planned as 0.01, asked as 0.02"* ]]
  cmp "$ledger" kept
  [ ! -e c.npy ]
}

@test "a plan beyond the budget is refused, and nothing is charged" {
  run plan --budget 0.5,1e-6
  [ "$status" -eq 77 ]
  [ ! -s sotto/ledger/people.jsonl ] # nor is the budget recorded
}

@test "the verifier reads plans, and refuses forged ones" {
  command -v python3 > /dev/null || skip "python3 is not installed"
  plan --budget 1,1e-6 --json > plan.json
  "$tree/tools/check-schema" sotto/ledger/people.jsonl
  ledger=sotto/ledger/people.jsonl
  verify() { python3 "$tree/verifier/sotto-verify.py" "$@"; }
  forge '"offers":[[0.0,0.0' '"offers":[[0.0,0.000'
  run verify --total forged.jsonl
  [ "$status" -eq 1 ]
  [[ "$output" == *"offers less in 'any_order' than its releases need together"* ]]
  run "$SOTTO" ledger show forged.jsonl
  [ "$status" -eq 65 ]
  [[ "$output" == *"offers less in 'any_order'"* ]]
  protect --planned "$(id):1" --mechanism gaussian --scale 0.01 --l2 0.001 --delta 1e-6 -o a.npy > /dev/null
  protect --planned "$(id):2" --mechanism laplace --scale 0.01 -o b.npy > /dev/null
  "$tree/tools/check-schema" "$ledger" a.npy.certificate.json
  verify a.npy.certificate.json --ledger "$ledger" | grep -q "slot 1 of plan $(id | head -c 16), which the ledger counts once"
  verify --total "$ledger" | grep -q 'what 1 charges recorded'
  forge '"slot":2' '"slot":2' # the control
  verify --total forged.jsonl
  for change in '"slot":2|"slot":1' '"slot":2|"slot":4' '"scale":0.01,"dimension":1,"s|"scale":0.02,"dimension":1,"s' "$(id)\",\"slot\":2|$(printf '0%.0s' {1..64})\",\"slot\":2"; do
    forge "${change%|*}" "${change#*|}"
    run verify --total forged.jsonl
    [ "$status" -eq 1 ]
    run "$SOTTO" ledger show forged.jsonl
    [ "$status" -eq 65 ]
  done
}

@test "a head of one release takes a slot; a plain head takes none" {
  "$SOTTO" data split synthetic-blobs-d5-k2-n100 --parts all=100 -o set --quiet
  head=("$SOTTO" head --features set/all-features.npy --labels set/all-labels.npy --classes 2 --ledger h.jsonl --quiet)
  printf '%s\n' 'schema: sotto.events/1' 'adjacency: replace-one' 'events:' '  - {mechanism: objective-perturbation, scale: 2, l1: 1, dimension: 5}' > events.yaml
  "$SOTTO" ledger plan events.yaml --dataset-id synthetic-blobs-d5-k2-n100 --ledger h.jsonl > said
  id=$(sed -n 's/^plan \([0-9a-f]*\):.*/\1/p' said)
  run "${head[@]}" --trainer objective --noise-multiplier 2 --planned "$id:1" -o a.safetensors
  [ "$status" -eq 65 ]
  [[ "$output" == *"dimension is planned as 5, asked as "* ]]
  n=$(sed -n 's/.*dimension is planned as 5, asked as \([0-9]*\).*/\1/p' <<< "$output")
  sed -i "s/dimension: 5/dimension: $n/" events.yaml
  "$SOTTO" ledger plan events.yaml --dataset-id synthetic-blobs-d5-k2-n100 --ledger h.jsonl > said
  id=$(sed -n 's/^plan \([0-9a-f]*\):.*/\1/p' said)
  run "${head[@]}" --trainer dp-sgd --batch 10 --epochs 1 --noise-multiplier 9 --planned "$id:1" -o a.safetensors
  [ "$status" -eq 65 ]
  [[ "$output" == *"a single release is planned, asked is a run of steps"* ]]
  run "$SOTTO" head --features set/all-features.npy --labels set/all-labels.npy --classes 2 --quiet --planned "$id:1" -o plain.safetensors
  [ "$status" -eq 64 ]
  [ ! -e plain.safetensors ]
  "${head[@]}" --trainer objective --noise-multiplier 2 --planned "$id:1" -o a.safetensors
  "$SOTTO" verify a.safetensors.certificate.json --ledger h.jsonl > /dev/null
}

@test "a release tells what it is as an event, before a plan is charged" {
  command -v python3 > /dev/null || skip "python3 is not installed"
  python3 -c 'print("\n".join(str(i % 7) for i in range(100)))' > t.csv
  mean=("$SOTTO" protect --table t.csv --statistic mean --range 0,6 --mechanism gaussian --scale 0.5 --delta 1e-6 --dataset-id people -o m.npy)
  run "${mean[@]}" --planned 00000000:1
  [ "$status" -eq 65 ]
  event=$(sed -n 's/.*hint: as an event of a plan this release is \({.*}\)$/\1/p' <<< "$output")
  printf '%s\n' 'schema: sotto.events/1' 'adjacency: replace-one' 'events:' "  - $event" > events.yaml
  plan
  "${mean[@]}" --planned "$(id):1"
}

# event COMMAND...: what a refusal says a run is
event() {
  run "$@" --planned 00000000:1
  [ "$status" -eq 65 ]
  sed -n 's/.*hint: as an event of a plan this run is \({.*}\)$/\1/p' <<< "$output"
}

@test "runs of DP-SGD take slots: a head, a network, and no other run" {
  "$SOTTO" data split synthetic-blobs-d5-k2-n100 --parts all=100 -o set --quiet
  head=("$SOTTO" head --features set/all-features.npy --labels set/all-labels.npy --classes 2 --ledger l.jsonl --quiet --trainer dp-sgd --batch 10 --noise-multiplier 4 --delta 1e-5)
  train=("$SOTTO" train --data synthetic-blobs-d5-k2-n100 --model mlp --hidden 4 --batch 20 --steps 6 --dtype f32 --backend ref --quiet --dp-sgd --noise-multiplier 5 --delta 1e-5 --ledger l.jsonl)
  printf '%s\n' 'schema: sotto.events/1' 'adjacency: replace-one' 'events:' "  - $(event "${head[@]}" --epochs 2 -o h.safetensors)" "  - $(event "${train[@]}" -o n.safetensors)" > events.yaml
  "$SOTTO" ledger plan events.yaml --dataset-id synthetic-blobs-d5-k2-n100 --ledger l.jsonl --budget 9,1e-5 --delta 1e-5 > said
  grep -q '^  slot 1: gaussian, noise_multiplier 3.99.*, sample_rate 0.1.*, steps 20, clipping l2, sampling poisson$' said
  grep -q '^  slot 2: gaussian, noise_multiplier .*, steps 6, clipping l2, sampling poisson$' said
  id=$(sed -n 's/^plan \([0-9a-f]*\):.*/\1/p' said)
  "$SOTTO" ledger show l.jsonl | grep '^total' > before
  cp l.jsonl kept
  run "${head[@]}" --epochs 3 --planned "$id:1" -o h.safetensors
  [ "$status" -eq 65 ]
  [[ "$output" == *"steps is planned as 20, asked as 30"* ]]
  run "${head[@]}" --epochs 2 --planned "$id:2" -o h.safetensors
  [ "$status" -eq 65 ]
  [[ "$output" == *"sample_rate is planned as 0.2"* ]]
  run "${train[@]}" --reserve-steps 2 --planned "$id:2" -o n.safetensors
  [ "$status" -eq 65 ]
  [[ "$output" == *"a slot of a plan is a whole run"* ]]
  cmp l.jsonl kept
  "${train[@]}" --planned "$id:2" -o n.safetensors
  "${head[@]}" --epochs 2 --planned "$id:1" -o h.safetensors
  run "${head[@]}" --epochs 2 --planned "$id:1" -o h2.safetensors
  [ "$status" -eq 77 ]
  [[ "$output" == *"slot 1 of plan ${id:0:16} is spent, whatever came of its release"* ]]
  [ ! -e h2.safetensors ]
  "$SOTTO" ledger show l.jsonl | tee shown | grep '^total' > after
  cmp before after
  grep -qx "plan ${id:0:16}: 2 of 2 slots spent" shown
  "$tree/tools/check-schema" l.jsonl h.safetensors.certificate.json n.safetensors.certificate.json
  for name in h n; do
    "$SOTTO" verify $name.safetensors.certificate.json --ledger l.jsonl | grep -q "slot . of plan ${id:0:16}, which the ledger counts once"
    "$SOTTO" certificate $name.safetensors --ledger l.jsonl | grep -q "slot . of plan ${id:0:16}: charged before it was made"
    python3 "$tree/verifier/sotto-verify.py" $name.safetensors.certificate.json --ledger l.jsonl | grep -q "slot . of plan ${id:0:16}, which the ledger counts once"
  done
  ledger=l.jsonl
  for change in '"steps":20,"first|"steps":21,"first' '"steps":20,"adj|"steps":19,"adj' '"sample_rate":0.10000000000000001,"dim|"sample_rate":0.2,"dim' '"slot":1|"slot":2' \
    '"clipping":"l2","sampling"|"clipping":"l1","sampling"' '"run":"|"protects":"inputs","run":"'; do
    forge "${change%|*}" "${change#*|}"
    run python3 "$tree/verifier/sotto-verify.py" --total forged.jsonl
    [ "$status" -eq 1 ]
    run "$SOTTO" ledger show forged.jsonl
    [ "$status" -eq 65 ]
  done
  python3 "$tree/verifier/sotto-verify.py" --total l.jsonl | grep -q 'what 1 charge took was derived again; boxes of runs with a shift 1 % larger'
}

@test "a run that was killed keeps its slot spent, and goes on at a charge of its own" {
  "$SOTTO" data split synthetic-blobs-d5-k2-n100 --parts all=100 -o set --quiet
  head=("$SOTTO" head --features set/all-features.npy --labels set/all-labels.npy --classes 2 --ledger l.jsonl --quiet --trainer dp-sgd --batch 10 --epochs 100000 --noise-multiplier 90 --delta 1e-5)
  printf '%s\n' 'schema: sotto.events/1' 'adjacency: replace-one' 'events:' "  - $(event "${head[@]}" -o h.safetensors)" > events.yaml
  "$SOTTO" ledger plan events.yaml --dataset-id synthetic-blobs-d5-k2-n100 --ledger l.jsonl --delta 1e-5 > said
  id=$(sed -n 's/^plan \([0-9a-f]*\):.*/\1/p' said)
  "${head[@]}" --planned "$id:1" -o h.safetensors &
  job=$!
  until grep -q '"event":"planned"' l.jsonl; do sleep 0.1; done
  kill -INT $job # which keeps its state
  wait $job || true
  [ -e h.safetensors.checkpoint ]
  [ "$(grep -c '"event":"settled"' l.jsonl)" -eq 0 ]
  run "${head[@]}" --planned "$id:1" -o h.safetensors
  [ "$status" -eq 77 ]
  [[ "$output" == *"its slot is spent, and no slot pays for steps that are drawn anew; omit planned, and the steps that are left are charged by themselves"* ]]
  "${head[@]}" -o h.safetensors &
  job=$!
  until grep -q '"event":"reserve"' l.jsonl; do sleep 0.1; done
  kill -KILL $job
  wait $job || true
  run "$SOTTO" ledger show l.jsonl
  [ "$status" -eq 0 ]
}

@test "verify derives a plan again: one that holds more than it was charged for is found" {
  command -v python3 > /dev/null || skip "python3 is not installed"
  "$SOTTO" data split synthetic-blobs-d5-k2-n100 --parts all=100 -o set --quiet
  head=("$SOTTO" head --features set/all-features.npy --labels set/all-labels.npy --classes 2 --ledger l.jsonl --quiet --trainer dp-sgd --batch 10 --epochs 2 --noise-multiplier 4 --delta 1e-5)
  run=$(event "${head[@]}" -o h.safetensors)
  printf '%s\n' 'schema: sotto.events/1' 'adjacency: replace-one' 'events:' "  - $run" "  - $run" > events.yaml
  "$SOTTO" ledger plan events.yaml --dataset-id synthetic-blobs-d5-k2-n100 --ledger l.jsonl --delta 1e-5 > said
  "${head[@]}" --planned "$(sed -n 's/^plan \([0-9a-f]*\):.*/\1/p' said):1" -o h.safetensors > /dev/null
  cat > forge.py << 'END'
import hashlib, json, re, sys
sha = lambda text: hashlib.sha256(text.encode()).hexdigest()
steps, new, before, out = sys.argv[1], {}, "0" * 64, []
certificate = open("h.safetensors.certificate.json").read().rstrip("\n")
for text in open("l.jsonl").read().splitlines():
    line, old = text[:-75] + "}", text[-66:-2]
    if '"event":"plan"' in line:  # its second run, which is not made
        at = line.rindex('"steps":20')
        line = line[:at] + '"steps":' + steps + line[at + 10:]
    for a, b in new.items():
        line = line.replace(a, b)
    if '"event":"released"' in line:
        for a, b in new.items():
            certificate = certificate.replace(a, b)
        salt = json.loads(line)["salt"]
        line = re.sub(r'("certificate":")[0-9a-f]{64}', r"\g<1>" + sha(salt + sha(certificate)), line)
    before = new[old] = sha(line)
    out.append(line[:-1] + f',"hash":"{before}"}}')
open("forged.jsonl", "w").write("\n".join(out) + "\n")
open("forged.json", "w").write(certificate + "\n")
END
  python3 forge.py 20 # the control
  "$SOTTO" verify forged.json --released h.safetensors --ledger forged.jsonl | grep -q 'what its plan was charged was derived again'
  python3 forge.py 40
  run "$SOTTO" verify forged.json --released h.safetensors --ledger forged.jsonl
  [ "$status" -ne 0 ]
  [[ "$output" == *"charged at epsilon"*"and its releases have at least"* ]]
}
