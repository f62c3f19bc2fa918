# by_effort CHECK LANDING NIGHT: one of three by SOTTO_EFFORT, 1 (make check), 5 (make check-landing) or 50 (make check-night); see
# tests/support/effort.h. A script that loads this file has the label 'effort'.
by_effort() {
  case ${SOTTO_EFFORT:-1} in
    1) printf '%s\n' "$1" ;;
    5) printf '%s\n' "$2" ;;
    50) printf '%s\n' "$3" ;;
    *) echo "SOTTO_EFFORT is '$SOTTO_EFFORT'; expected 1, 5 or 50" >&2 && return 2 ;;
  esac
}
