#!/usr/bin/env bats
# Folders of images as people have them: other kinds of images by name, and images that cannot be read.

bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_TMPDIR" || exit
  export SOTTO_DATA_DIR=$PWD/data XDG_DATA_HOME=$PWD/xdg
  python3 - << 'PY'
import os, struct, zlib

def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

for k in range(12):
    name = "photos/%s/%d.png" % (("cat", "dog")[k % 2], k)
    os.makedirs(os.path.dirname(name), exist_ok=True)
    rows = b"".join(b"\0" + bytes(16 * k + y + x for x in range(4)) for y in range(4))
    with open(name, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 0, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
PY
}

sotto() { run --separate-stderr "$SOTTO" "$@"; }
webp() { printf 'RIFF\4\0\0\0WEBP' > "$1"; }

@test "an image of another kind is named by its bytes, whatever its name" {
  for name in x.webp y.jpg; do
    webp photos/cat/$name
    sotto data import photos --name p
    [ "$status" -eq 65 ]
    [[ $stderr == *"photos/cat/$name: is a WebP image; expected JPEG or PNG"*"hint: put a JPEG or PNG in its place"*"--drop-bad-images"* ]]
    cp photos/cat/0.png photos/cat/${name%.*}.png # the first way of the hint
    rm photos/cat/$name
  done
  sotto data import photos --name p
  [ "$status" -eq 0 ]
  rm -r photos/*/*
  printf 'BM\66\0' > photos/cat/1.bmp
  printf 'GIF89a' > photos/dog/1.gif
  sotto data import photos --name q
  [ "$status" -eq 65 ] # images all the same
  [[ $stderr == *"photos/cat/1.bmp: is a BMP image"* ]]
}

@test "--drop-bad-images leaves out what cannot be read and names all of it" {
  "$SOTTO" data import photos --name whole > /dev/null
  webp photos/cat/x.webp
  printf 'II*\0' > photos/dog/y.tiff
  head -c 60 photos/dog/1.png > photos/dog/z.png
  : > photos/dog/zz.jpg
  sotto data import photos --name p --drop-bad-images
  [ "$status" -eq 0 ]
  [ "$(grep -c 'left out: ' <<< "$stderr")" -eq 4 ]
  [[ $stderr == *"left out: photos/cat/x.webp: is a WebP image"* ]]
  [[ $stderr == *"left out: photos/dog/y.tiff: is a TIFF image"* ]]
  [[ $stderr == *"left out: photos/dog/z.png: damaged PNG"* ]]
  [[ $stderr == *"left out: photos/dog/zz.jpg: is empty"* ]]
  [[ $stderr == *"photos: 4 of 16 images cannot be read and were left out"* ]]
  cmp data/whole/images.npy data/p/images.npy
  cmp data/whole/labels.npy data/p/labels.npy
  tar cf photos.tar photos
  sotto data import photos.tar --name q --drop-bad-images
  [ "$status" -eq 0 ]
  cmp data/whole/images.npy data/q/images.npy
}

@test "a class that becomes empty is an error that names it, and so are too many bad images" {
  mkdir photos/fox
  webp photos/fox/1.webp
  sotto data import photos --name p --drop-bad-images
  [ "$status" -eq 65 ]
  [[ $stderr == *"left out: photos/fox/1.webp: is a WebP image"*"photos: no image of the class 'fox' can be read"* ]]
  [ ! -e data/p ]
  for i in $(seq 13); do webp photos/dog/$i.webp; done
  sotto data import photos --name p --drop-bad-images
  [ "$status" -eq 65 ]
  [[ $stderr == *"photos: 14 of 26 images cannot be read; expected at most half of them"* ]]
}

@test "what is no image is no bad image, and tables have no images to leave out" {
  mv photos/cat/0.png photos/cat/0.txt
  sotto data import photos --name p --drop-bad-images
  [ "$status" -eq 0 ]
  [[ $stderr != *"left out: "* ]]
  printf 'a,c\n1,x\n2,y\n' > t.csv
  sotto data import t.csv --name t --drop-bad-images
  [ "$status" -eq 64 ]
  [[ $stderr == *"--drop-bad-images cannot be given for the layout 'csv'"* ]]
}
