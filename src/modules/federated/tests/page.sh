# What page.md takes as given, small and made up.
# shellcheck shell=bash
sotto data split synthetic-blobs-d8-k4-n1700 --parts all=1700 -o blobs
for end in npy npy.provenance.json; do
  mv blobs/all-features.$end X.$end
  mv blobs/all-labels.$end y.$end
done
