#!/usr/bin/env bats
# The stand-alone verifier in Python's standard library, beside 'sotto verify': both say the same of forged bundles.

load ../support/verifier

@test "ten kinds of forgery, unsigned and signed: refused, or answered with NOT signed" {
  mkdir forgeries
  SOTTO_FORGERIES=$PWD/forgeries "$SOTTO_BUILD/test_dp" --only forgery > /dev/null 2>&1
  "$python" "$cases" "$verifier" forgeries forgeries
}
