# Files in NumPy's format.
# shellcheck shell=bash

# npy FILE DTYPE SHAPE < little-endian bytes
npy() {
  local header="{'descr': '$2', 'fortran_order': False, 'shape': ($3), }"
  local length=$(( (10 + ${#header} + 1 + 63) / 64 * 64 - 10 ))
  {
    printf '\x93NUMPY\x01\x00'
    printf "\\x$(printf %02x $((length % 256)))\\x$(printf %02x $((length / 256)))"
    printf "%-$((length - 1))s\n" "$header"
    cat
  } > "$1"
}
