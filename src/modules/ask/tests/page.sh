# What page.md takes as given, small and made up.
# shellcheck shell=bash
cat > patients.yaml << 'YAML'
schema: sotto.schema/1
columns:
  - {name: age, type: number, bounds: [0, 110]}
  - {name: crp, type: number, bounds: [0, 40]}
  - {name: ward, type: category, categories: [A, B]}
YAML
awk 'BEGIN { print "age,crp,ward"; for (i = 0; i < 500; i++) printf "%d,%d,%s\n", i % 101, 10 + 20 * (i % 2), i % 2 ? "A" : "B" }' > patients.csv
