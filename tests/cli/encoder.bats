#!/usr/bin/env bats
# sotto encoder import: usage, and files of other kinds. Known answers are in tests/known/ssl/test_encoder_import.c.

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

import() { run "$SOTTO" encoder import "$@"; }
# refused CODE TEXT: one line and perhaps a hint, and no output
refused() {
  [ "$status" -eq "$1" ] || { echo "exit $status: $output"; return 1; }
  [[ "${lines[0]}" == "sotto: error: "*"$2"* ]] || { echo "$output"; return 1; }
  [ "${#lines[@]}" -le 2 ]
  [ ! -e e.safetensors ]
}
statement=(--statement "public, by a test")

@test "what is missing is named" {
  run "$SOTTO" encoder
  refused 64 "encoder"
  run "$SOTTO" encoder export x
  refused 64 "action 'export' is unknown; expected import"
  import
  refused 64 "no file; give the weights"
  import w.safetensors --model resnet18 -o e.safetensors
  refused 64 "--statement"
  import w.safetensors "${statement[@]}" -o e.safetensors
  refused 64 "--model"
  import w.safetensors "${statement[@]}" --model resnet18
  refused 64 "--output"
  import w.safetensors "${statement[@]}" --model resnet19 -o e.safetensors
  refused 65 "model 'resnet19' has no torchvision names; expected one of resnet18|"
  import w.safetensors "${statement[@]}" --model resnet18 --size 224 -o e.safetensors
  refused 64 "--size: '224' is not a size"
  import w.safetensors "${statement[@]}" --model resnet18 -o e.safetensors
  refused 66 "w.safetensors"
}

@test "a statement that names no one, and moments that are none" {
  import w.safetensors --statement public --model resnet18 -o e.safetensors
  refused 65 "does not name who states it; expected \"public, by WHO\""
  import w.safetensors "${statement[@]}" --model resnet18 --normalise 1,2,3 -o e.safetensors
  refused 65 "normalise: '1,2,3' is not imagenet, none or means and deviations"
}

@test "files of other kinds are named, with a way out" {
  printf 'PK\3\4%20s' x > m.pth
  import m.pth "${statement[@]}" --model resnet18 -o e.safetensors
  refused 65 "m.pth: is an archive of PyTorch (torch.save); expected a .safetensors file"
  [[ "${lines[1]}" == "hint: "*"save_file(model.state_dict()"* ]]
  : > empty
  import empty "${statement[@]}" --model resnet18 -o e.safetensors
  refused 65 "too short"
  printf '\x40\0\0\0\0\0\0\0{"fc.weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}  abcd' > few
  import few "${statement[@]}" --model mobilenetv2 -o e.safetensors
  refused 65 "260 tensors of mobilenetv2 missing: features.0.0.weight, features.0.1.weight,"
  "$SOTTO" pretrain --data synthetic-images-n28 --epochs 1 --batch 4 --dtype f32 --backend dnnl --quiet -o ours.safetensors > /dev/null
  import ours.safetensors "${statement[@]}" --model resnet18 -o e.safetensors
  refused 65 "ours.safetensors: is a file of sotto (sotto.encoder/1)"
}
