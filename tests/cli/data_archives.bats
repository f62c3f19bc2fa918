#!/usr/bin/env bats
# label: landing
# sotto data: an archive of 60,000 images, where it lies in $SOTTO_SHARED.

setup() {
  work=$(mktemp -d)
  export SOTTO_DATA_DIR=$work/data SOTTO_FASHION_MNIST=$work/none
  cd "$work"
}

teardown() { rm -rf "$work"; }

# run the program; output and error text in one variable
sotto() { run "$SOTTO" "$@"; }

@test "the shared CIFAR-10 archive imports as it is" {
  [ -e "${SOTTO_SHARED-}/data/cifar10-jpeg.tar.xz" ] || skip "no shared data folder"
  sotto data import "$SOTTO_SHARED/data/cifar10-jpeg.tar.xz" --name cifar10
  [ "$status" -eq 0 ]
  sotto data info cifar10
  [[ $output == *"records    60000 (50000 training, 10000 test)"*"3 x 32 x 32"*"0 airplane: 6000"*"9 truck: 6000"* ]]
  sotto data verify cifar10
  [ "$status" -eq 0 ]
}
