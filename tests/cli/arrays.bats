#!/usr/bin/env bats
# --arrays FILE.npz of audit and attack: members are options; twice or unknown is an error.
bats_require_minimum_version 1.5.0

setup_file() {
  command -v zip > /dev/null || skip
  cd "$BATS_FILE_TMPDIR" || return 1
  export XDG_DATA_HOME="$BATS_FILE_TMPDIR/data"
  "$SOTTO" data split synthetic-blobs-d8-k4-n900 --parts member=100,nonmember=100,attacker=600 -o b
  "$SOTTO" head --features b/member-features.npy --labels b/member-labels.npy --hidden 32 --epochs 20 -o t.safetensors
  for part in member nonmember attacker; do
    for what in features labels; do cp b/$part-$what.npy ${part}_$what.npy; done
    "$SOTTO" predict --head t.safetensors --features b/$part-features.npy --logits -o ${part}_logits.npy
  done
  zip -q -0 audit.npz member_logits.npy nonmember_logits.npy member_labels.npy
  cp audit.npz all.npz
  zip -q -0 all.npz nonmember_labels.npy
  zip -q -0 attack.npz {member,nonmember,attacker}_{features,labels}.npy
  cp b/member-rows.npy surprise.npy
  zip -q -0 unknown.npz member_logits.npy surprise.npy
}
setup() {
  command -v zip > /dev/null || skip
  cd "$BATS_FILE_TMPDIR" || return 1
}

@test "audit: a file of arrays replaces single options and can be combined with them" {
  "$SOTTO" audit --member-logits member_logits.npy --nonmember-logits nonmember_logits.npy \
    --member-labels member_labels.npy --nonmember-labels nonmember_labels.npy > single.txt
  "$SOTTO" audit --arrays all.npz > file.txt
  "$SOTTO" audit --arrays audit.npz --nonmember-labels nonmember_labels.npy > both.txt
  cmp single.txt file.txt
  cmp single.txt both.txt
  "$SOTTO" audit --arrays all.npz -o out
  [ -s out/report.html ]
}

@test "attack: the records in one file" {
  "$SOTTO" attack ml-leaks-1 --target t.safetensors --member-features member_features.npy --member-labels member_labels.npy \
    --nonmember-features nonmember_features.npy --nonmember-labels nonmember_labels.npy \
    --attacker-features attacker_features.npy --attacker-labels attacker_labels.npy > single.txt
  "$SOTTO" attack ml-leaks-1 --target t.safetensors --arrays attack.npz > file.txt
  cmp single.txt file.txt
}

@test "a member that is given twice, one that is unknown and a file of another kind are errors" {
  run "$SOTTO" audit --arrays all.npz --member-labels member_labels.npy
  [ "$status" -eq 64 ]
  [ "$output" = "sotto: error: --member-labels is given twice: as an option and as member 'member_labels' of --arrays all.npz" ]
  run "$SOTTO" audit --arrays unknown.npz
  [ "$status" -eq 64 ]
  [[ "$output" == "sotto: error: --arrays unknown.npz: member 'surprise' is unknown; expected one of: member_logits, nonmember_logits, "*"membership"* ]]
  run "$SOTTO" attack ml-leaks-1 --target t.safetensors --arrays all.npz
  [ "$status" -eq 64 ]
  [[ "$output" == *"expected one of: member_features, member_labels, "* ]]
  run "$SOTTO" audit --arrays member_logits.npy
  [ "$status" -eq 64 ]
  run "$SOTTO" audit --arrays none.npz
  [ "$status" -eq 66 ]
}

@test "data split: shares are parts of the whole, rounded down, beside numbers" {
  "$SOTTO" data split synthetic-blobs-d8-k4-n900 --parts train=0.7,test=.1,rest=180 -o shares
  for part in train=630 test=90 rest=180; do # a header of 128 bytes, and 8 for each row
    [ "$(wc -c < "shares/${part%=*}-rows.npy")" -eq $((128 + 8 * ${part#*=})) ]
  done
  run -65 "$SOTTO" data split synthetic-blobs-d8-k4-n900 --parts a=0.8,b=0.3 -o no
  [[ "$output" == *"split: the parts need 990 records; synthetic-blobs-d8-k4-n900 has 900"* ]]
  run -65 "$SOTTO" data split synthetic-blobs-d8-k4-n900 --parts a=1.5 -o no
  [[ "$output" == *"the share of part 'a' is 1.5; expected above 0 and at most 1"* ]]
  run -64 "$SOTTO" data split synthetic-blobs-d8-k4-n900 --parts a=0.5x -o no
  [[ "$output" == *"or train=0.8,test=0.2"* ]]
  [ ! -e no ]
}
