#!/usr/bin/env bats
# What pages say, as text: the command that repeats an audit, the heading, the same bytes again.

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  mkdir ward7
  LC_ALL=C awk 'BEGIN { srand(3); for (i = 0; i < 200; i++) print rand() * .7 }' > ward7/patients.csv
  LC_ALL=C awk 'BEGIN { srand(4); for (i = 0; i < 200; i++) print rand() }' > ward7/others.csv
  export SOURCE_DATE_EPOCH=0 XDG_DATA_HOME=$PWD
}

# The command on a page, as a shell reads it.
command_of() { sed -n 's/.*<h3>Command<\/h3>//; /^<pre class="command"[^>]*><code>sotto audit/{s/<[^>]*>//g; s/&#39;/'"'"'/g; s/&quot;/"/g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g; p}' "$1"; }

@test "the page of an audit repeats its command, without names of files" {
  "$SOTTO" audit --member-losses ward7/patients.csv --nonmember-losses=ward7/others.csv --fpr 0.05 --title "it's \"a\" <test> \$HOME" --bootstrap 100 --fail-if 'auc>0.99' -o one > /dev/null
  [ "$(grep -rl 'patients\|others.csv\|ward7' one | wc -l)" -eq 0 ]
  command=$(command_of one/report.html)
  [[ "$command" == "sotto audit --member-losses MEMBER_LOSSES --nonmember-losses NONMEMBER_LOSSES --fpr 0.05 --title "* ]]
  # With the files in their places it gives the same page, byte for byte.
  command=${command/MEMBER_LOSSES/ward7\/patients.csv}
  command=${command/NONMEMBER_LOSSES/ward7\/others.csv}
  eval "\"\$SOTTO\" ${command#sotto } -o two" > /dev/null
  cmp one/report.html two/report.html
  cmp one/result.json two/result.json
}

# next PAGE: the exit code of the command that the page tells to run, with its files absent
next() {
  local command
  command=$(sed -n '/<h3 id="next">/,/<\/pre>/s/.*<code>\(.*\)<\/code>.*/\1/p' "$1")
  [ -n "$command" ] || return 1
  run bash -c "\"\$SOTTO\" ${command#sotto }"
}

@test "the next step on a page is a command that runs, as soon as its files are there" {
  "$SOTTO" audit --member-losses ward7/patients.csv --nonmember-losses ward7/others.csv --fpr 0.05 -o leaks > /dev/null
  next leaks/report.html
  [ "$status" -eq 66 ]
  [[ "$output" == *"FEATURES.npy"* ]]
  "$SOTTO" audit --member-losses ward7/others.csv --nonmember-losses ward7/patients.csv --fpr 0.05 -o none > /dev/null
  next none/report.html
  [ "$status" -eq 66 ]
  [[ "$output" == *"MEMBERS.npy"* ]]
}

@test "the certificate's page begins with what is proved" {
  "$SOTTO" embed --data synthetic-images-n60 --encoder scattering --labels-out y.npy -o x.npy --quiet > /dev/null
  "$SOTTO" head --features x.npy --labels y.npy --classes 10 --trainer dp-sgd --batch 20 --epochs 1 --epsilon 0.3 --delta 1e-3 --ledger l.jsonl --quiet -o h.safetensors > /dev/null 2>&1
  "$SOTTO" certificate h.safetensors --ledger l.jsonl --html -o page.html
  grep -q '<h1 data-verdict><bdi>Proved: epsilon at most 0.3 at delta 0.001 for one record (replace-one).</bdi></h1>' page.html
  sed -i 's/"records": 60/"records": 61/' h.safetensors.certificate.json
  run "$SOTTO" certificate h.safetensors --ledger l.jsonl --html -o bad.html
  [ "$status" -eq 1 ]
  grep -q '<h1 data-verdict><bdi>This certificate does not verify: ' bad.html
}
