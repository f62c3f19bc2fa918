#!/usr/bin/env bats
# A ten-line consumer must build against the installed library through pkg-config and through CMake.

setup() {
  root=$(mktemp -d)
  cmake --install "$SOTTO_BUILD" --prefix "$root/usr" >/dev/null
  cat > "$root/main.c" <<'C'
#include <sotto/sotto.h>
#include <stdio.h>
int main(void)
{
    printf("%s\n", sotto_version());
    return 0;
}
C
}
teardown() { rm -rf "$root"; }

@test "pkg-config consumer builds and runs" {
  export PKG_CONFIG_PATH=$(dirname "$(find "$root" -name sotto.pc)")
  libdir=$(dirname "$(find "$root" -name libsotto.so)")
  # the .pc file names the configured prefix; relocate it as packagers do
  gcc "$root/main.c" -o "$root/consumer" $(pkg-config --define-variable=prefix="$root/usr" --cflags --libs sotto)
  LD_LIBRARY_PATH=$libdir run "$root/consumer"
  [ "$status" -eq 0 ]
  [ "$output" = "$("$SOTTO" version --json | sed 's/.*"version": "\([^"]*\)".*/\1/')" ]
}

@test "CMake consumer builds and runs" {
  cat > "$root/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.22)
project(consumer C)
find_package(sotto REQUIRED)
add_executable(consumer main.c)
target_link_libraries(consumer sotto::sotto)
C
  cmake -S "$root" -B "$root/build" -DCMAKE_PREFIX_PATH="$root/usr" >/dev/null
  cmake --build "$root/build" >/dev/null
  run "$root/build/consumer"
  [ "$status" -eq 0 ]
}

@test "uninstall leaves nothing behind" {
  xargs -r rm -f < "$SOTTO_BUILD/install_manifest.txt"
  [ -z "$(find "$root/usr" -type f -o -type l | head -1)" ]
}
