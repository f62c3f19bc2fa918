# What page.md takes as given, small and made up.
# shellcheck shell=bash
. "$ROOT/tests/support/pages/small_cifar10.sh"
