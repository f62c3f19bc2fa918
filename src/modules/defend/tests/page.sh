# What page.md takes as given, small and made up.
# shellcheck shell=bash
sotto data split synthetic-blobs-d8-k4-n700 --parts m=100,n=100,other=100,in=100,out=100 -o blobs
sotto head --features blobs/m-features.npy --labels blobs/m-labels.npy --hidden 16 -o head.safetensors
for part in m n other in out; do sotto predict --head head.safetensors --features blobs/$part-features.npy -o $part.npy; done
