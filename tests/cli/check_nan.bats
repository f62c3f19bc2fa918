#!/usr/bin/env bats
# tools/check-nan finds comparisons of tests that a NaN passes.

bats_require_minimum_version 1.5.0

setup() {
  check=$BATS_TEST_DIRNAME/../../tools/check-nan
  cd "$BATS_TEST_TMPDIR" || return 1
  mkdir -p tests/unit
}

# with LINE...: a test of these lines, from line 3 on, in which error, bound and worst are real numbers and count is none
with() { printf '%s\n' 'static void a(const double *x, size_t n) {' '    double error = x[0], bound = 1, worst[2] = {0, 0}; size_t count = 0, wrong = 0;' "$@" '}' > tests/unit/test_a.c; }

@test "comparisons that a NaN passes are found" {
  while read -r line; do
    with "    $line"
    run -1 "$check"
    [ "$output" = "check-nan: tests/unit/test_a.c:3:     $line" ] || { echo "$line: $output"; false; }
  done << 'L'
assert_false(error > bound);
assert_true(!(error > bound));
assert_true(!(fabs(error - 1) > 1e-6));
wrong += error > bound;
wrong |= fabs(x[n] - 1) > bound;
L
  for fails in 'fail_msg("%g", error);' 'return "too far";' 'return false;'; do
    for condition in 'error > bound' 'count > 1 || error < bound' 'fabs(x[n] - 1) > 1e-6'; do
      with "    if ($condition)" "        $fails"
      run -1 "$check"
      [ "$output" = "check-nan: tests/unit/test_a.c:3:     if ($condition)" ] || { echo "$condition: $output"; false; }
    done
  done
  while read -r line; do
    for test in 'assert_true(worst[1] <= bound);' 'if (!(worst[1] < bound))'; do
      with "    $line" "    $test"
      run -1 "$check"
      [ "$output" = "check-nan: tests/unit/test_a.c:3:     $line" ] || { echo "$line: $output"; false; }
    done
  done << 'L'
worst[1] = fmax(worst[1], error);
worst[1] = error > worst[1] ? error : worst[1];
L
  with '    if (error > worst[1])' '        worst[1] = error;' '    assert_true(worst[1] <= bound);'
  run -1 "$check"
  [ "$output" = "check-nan: tests/unit/test_a.c:3:     if (error > worst[1])" ]
}

@test "those that it fails are not" {
  while read -r line; do
    with "    $line" '        fail_msg("%g", error);' '    assert_true(worst[1] <= bound);'
    run -0 "$check"
    [ -z "$output" ] || { echo "$line: $output"; false; }
  done << 'L'
if (!(error <= bound))
if (!(fabs(x[n] - 1) <= 1e-6) || !(error > 0))
if (count > 3)
if (isnan(error) || error > bound)
assert_true(error <= bound);
assert_false(count > 3);
wrong += !(error <= bound);
worst[1] = worse(worst[1], error);
worst[1] = fmax(worst[1], error); /* never NaN */
L
  with '    worst[1] = fmax(worst[1], error);' '    assert_true(error <= bound * worst[1]);' # a scale
  run -0 "$check"
}
