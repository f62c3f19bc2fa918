# part_of_day N: the part I/N of a list that is the turn of this commit's day, so that all parts have one in N days. Without a history of
# git it is the same part each time. Effort 1 takes a part of what the landing takes whole; who uses it prints the part.
part_of_day() {
  local day
  day=$(git -C "$BATS_TEST_DIRNAME" log -1 --format=%cs 2> /dev/null) || day=1970-01-01
  echo "$(($(date -u -d "$day" +%s) / 86400 % $1 + 1))/$1"
}
