#!/usr/bin/env bats
# label: landing
# sotto-serve-torch, -onnx, -sklearn (servers/sotto-serve.py): what is no model of theirs gets one sentence, before any framework is
# asked for; models are served like sotto's own where SOTTO_PYTHON (default python3) has the framework.

server=$BATS_TEST_DIRNAME/../../servers/sotto-serve.py

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  ln -s "$server" sotto-serve.py # a command is split at spaces, of which its folder may have some
  export PYTHONDONTWRITEBYTECODE=1
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2> /dev/null || skip "python3 of version 3.9 or newer is not there"
}

# refused CODE TEXT KIND ARGUMENT...: one line on stderr, nothing on stdout
refused() {
  local code=$1 text=$2
  shift 2
  run --separate-stderr python3 "$server" "$@" < /dev/null
  [ "$status" -eq "$code" ] || { echo "$*: exit $status: $stderr"; return 1; }
  [[ "$stderr" == *"$text"* ]] || { echo "$*: $stderr"; return 1; }
  [ "$(wc -l <<< "$stderr")" -eq 1 ]
  [ -z "$output" ]
}
bats_require_minimum_version 1.5.0
load ../support/npy

@test "a program, a file, and no other word" {
  refused 64 "expected torch, onnx or sklearn"
  refused 64 "expected torch, onnx or sklearn" tensorflow model
  refused 64 "give a model, or --factory" torch
  refused 64 "see --help" onnx
  refused 64 "see --help" torch m.pt --answers maybe
  refused 64 "see --help" onnx m.onnx --trust-pickle
  refused 66 "m.pt: there is no such file" torch m.pt
  for kind in torch onnx sklearn; do
    cp "$server" "sotto-serve-$kind"
    python3 "sotto-serve-$kind" --help | grep -q "usage: sotto-serve-$kind"
  done
}

@test "files of the wrong kind are named, and what to do" {
  python3 - <<'P'
import collections, pickle, sys, types, zipfile, zlib
def archive(name, **members):
    with zipfile.ZipFile(name, "w") as z:
        for member, data in members.items():
            z.writestr("m/" + member.replace("__", "."), data)
mynet = types.ModuleType("mynet")
class Net: pass
Net.__module__, mynet.Net = "mynet", Net
sys.modules["mynet"] = mynet
weights = collections.OrderedDict(weight=1.0, bias=2.0)
archive("script.pt", constants__pkl=b"", data__pkl=b"", **{"code/a__py": b""})
archive("program.pt2", archive_format=b"pt2")
archive("weights.pt", data__pkl=pickle.dumps(weights, 2))
archive("module.pt", data__pkl=pickle.dumps(Net(), 2))
archive("module4.pt", data__pkl=pickle.dumps(Net(), 4))
archive("lightning.ckpt", data__pkl=pickle.dumps({"epoch": 3, "pytorch-lightning_version": "2.4.0", "state_dict": weights}, 2))
archive("checkpoint.pt", data__pkl=pickle.dumps({"epoch": 3, "model_state_dict": weights}, 2))
archive("keras.keras", **{"config__json": b"{}"})
with zipfile.ZipFile("keras.keras", "w") as z:
    z.writestr("model.weights.h5", b"")
with zipfile.ZipFile("arrays.npz", "w") as z:
    z.writestr("a.npy", b"")
open("cut.pt", "wb").write(open("weights.pt", "rb").read()[:60])
open("old.pt", "wb").write(pickle.dumps(0x1950a86a20f9469cfc6c, 2))
open("model.pkl", "wb").write(pickle.dumps(Net(), 4))
open("model.joblib", "wb").write(zlib.compress(pickle.dumps(weights)))
open("w.safetensors", "wb").write((2).to_bytes(8, "little") + b"{}")
open("model.onnx", "wb").write(b"\x08\x08\x12\x07pytorch")
open("saved_model.pb", "wb").write(b"\x08\x01\x12\x07serving")
open("model.tflite", "wb").write(b"\x1c\0\0\0TFL3")
open("model.h5", "wb").write(b"\x89HDF\r\n\x1a\n")
open("x.npy", "wb").write(b"\x93NUMPY\1\0")
open("text.pt", "w").write("hello")
open("empty.pt", "w")
P
  mkdir saved
  mv saved_model.pb saved
  refused 65 "weights.pt: is a state_dict: weights without a network; give --factory MODULE:FUNCTION" torch weights.pt
  refused 65 "module.pt: is a pickled nn.Module, which runs code when it is loaded; save its torch.jit.script()" torch module.pt
  refused 65 "module4.pt: is a pickled nn.Module" torch module4.pt --factory mynet:make
  refused 65 "lightning.ckpt: is a Lightning checkpoint, with the weights in its member state_dict; save" torch lightning.ckpt
  refused 65 "checkpoint.pt: is a training checkpoint, with the weights in one of its members; save" torch checkpoint.pt --factory a:b
  refused 65 "w.safetensors: is a .safetensors file: weights without a network; give --factory" torch w.safetensors
  refused 65 "cut.pt: is a damaged archive" torch cut.pt
  refused 65 "old.pt: is a file of torch.save of 2020 or earlier; save the model again" torch old.pt
  refused 65 "model.onnx: is an ONNX model; sotto-serve-onnx serves it" torch model.onnx
  refused 65 "saved: is a TensorFlow model; convert it to ONNX" torch saved
  refused 65 "saved/saved_model.pb: is a TensorFlow model" onnx saved/saved_model.pb
  refused 65 "model.tflite: is a TensorFlow model" onnx model.tflite
  refused 65 "model.h5: is a Keras model; convert it to ONNX" torch model.h5
  refused 65 "keras.keras: is a Keras model" onnx keras.keras
  refused 65 "arrays.npz: is a file of NumPy arrays" torch arrays.npz
  refused 65 "x.npy: is a file of NumPy arrays" sklearn x.npy
  refused 65 "script.pt: is a TorchScript archive; sotto-serve-torch serves it" onnx script.pt
  refused 65 "program.pt2: is a program of torch.export; sotto-serve-torch serves it" sklearn program.pt2
  refused 65 "model.pkl: is a pickle of Python; sotto-serve-sklearn serves" torch model.pkl
  refused 65 "text.pt: is of no known kind" torch text.pt
  refused 65 "empty.pt: is of no known kind" onnx empty.pt
  refused 64 "script.pt: is a TorchScript archive, which has its network in it; leave out --factory" torch script.pt --factory a:b
  refused 77 "model.pkl: is a pickle, which runs code of its maker when it is loaded; give --trust-pickle" sklearn model.pkl
  refused 77 "model.joblib: is a pickle" sklearn model.joblib
}

@test "a framework that is not there" {
  if ! python3 -c 'import torch' 2> /dev/null; then
    python3 -c 'import zipfile; zipfile.ZipFile("s.pt", "w").writestr("m/constants.pkl", b"")'
    refused 69 "torch is not installed for" torch s.pt
  fi
  if ! python3 -c 'import onnxruntime' 2> /dev/null; then
    printf '\x08\x08\x12\x07pytorch' > m.onnx
    refused 69 "onnxruntime is not installed for" onnx m.onnx
  fi
}

# ---- with a framework: a head of sotto's, served by another program, is attacked like the head itself ----
python=${SOTTO_PYTHON:-python3}
needs() { "$python" -c "import $1" 2> /dev/null || skip "no ${2:-$1}"; }
head_and_records() {
  for n in 1 2; do
    printf "$(LC_ALL=C awk -v s=$n 'BEGIN { srand(s); for (i = 0; i < 240; i++) printf "\\x0%d", int(4 * rand()) }')" | npy "x$n.npy" '|u1' '60, 4'
    printf "$(awk 'BEGIN { for (i = 0; i < 60; i++) printf "\\x0%d", i % 3 }')" | npy "y$n.npy" '|u1' '60,'
  done
  "$SOTTO" head --features x1.npy --labels y1.npy --hidden 8 --epochs 5 --quiet -o h.safetensors > /dev/null
  attack --target h.safetensors > expected.txt
}
attack() {
  "$SOTTO" attack ml-leaks-3 --member-features x1.npy --member-labels y1.npy --nonmember-features x2.npy \
    --nonmember-labels y2.npy --timeout 300 "$@"
}
served() { # TEXT KIND ARGUMENT...
  local text=$1
  shift
  attack --target-command "exec $python sotto-serve.py $*" > found.txt 2> said.txt || { cat said.txt; return 1; }
  cmp found.txt expected.txt && grep -qF "$text" said.txt || { cat said.txt; return 1; }
}

@test "PyTorch: TorchScript, torch.export, weights with a factory" {
  needs torch
  head_and_records
  cat > net.py <<'P'
import json, struct, torch
def weights():
    raw = open("h.safetensors", "rb").read()
    size = struct.unpack("<Q", raw[:8])[0]
    head = json.loads(raw[8:8 + size])
    return {k: torch.frombuffer(bytearray(raw[8 + size:][slice(*v["data_offsets"])]), dtype=torch.float32).reshape(v["shape"])
            for k, v in head.items() if k != "__metadata__"}
def make():
    print("words of the model do not reach the frames")
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
def narrow():
    return torch.nn.Sequential(torch.nn.Linear(4, 7), torch.nn.ReLU(), torch.nn.Linear(7, 3))
def whole():
    model = make()
    model.load_state_dict(weights())
    return torch.nn.Sequential(model, torch.nn.Softmax(1))
def words():
    return "a network"
P
  "$python" - <<'P'
import torch, net
model = net.make()
model.load_state_dict(net.weights())
model.eval()
torch.jit.script(model).save("script.pt")
torch.jit.script(model).save("named.pt2")
torch.save(model.state_dict(), "weights.pt")
torch.save(model, "module.pt")
rows = torch.export.Dim("rows")
torch.export.save(torch.export.export(model, (torch.zeros(2, 4),), dynamic_shapes=({0: rows},)), "program.pt2")
P
  served "look like logits" torch script.pt
  served "look like logits" torch program.pt2
  served "note: named.pt2 is a TorchScript archive, whatever its name says" torch named.pt2 --answers logits
  served "words of the model" torch weights.pt --factory net:make
  served "look like probabilities" torch --factory net:whole
  if "$python" -c 'import safetensors.torch' 2> /dev/null; then served "look like logits" torch h.safetensors --factory net:make; fi
  run attack --target-command "$python sotto-serve.py torch module.pt"
  [ "$status" -eq 74 ]
  [[ "$output" == *"module.pt: is a pickled nn.Module"*"ended with exit status 65"* ]]
  run attack --target-command "$python sotto-serve.py torch weights.pt --factory net:narrow"
  [[ "$output" == *"weights.pt: is not the state_dict of --factory net:narrow: "* ]]
  run attack --target-command "$python sotto-serve.py torch weights.pt --factory net:absent"
  [[ "$output" == *"--factory net:absent: AttributeError: "* ]]
  run attack --target-command "$python sotto-serve.py torch --factory net:words"
  [[ "$output" == *"--factory net:words: returned str; expected an nn.Module"* ]]
  run attack --target-command "$python sotto-serve.py torch script.pt --shape 2,1,1"
  [[ "$output" == *"the model refused 1 rows of [2, 1, 1] numbers: "* ]]
}

@test "ONNX: any batch size, one batch size" {
  needs "onnxruntime, onnx" "onnxruntime and onnx"
  head_and_records
  "$python" - <<'P'
import json, struct, numpy, onnx
from onnx import helper, numpy_helper
raw = open("h.safetensors", "rb").read()
size = struct.unpack("<Q", raw[:8])[0]
head = json.loads(raw[8:8 + size])
w = [numpy_helper.from_array(numpy.frombuffer(raw[8 + size:][slice(*v["data_offsets"])], "<f4").reshape(v["shape"]), k)
     for k, v in head.items() if k != "__metadata__"]
nodes = [helper.make_node("Gemm", ["x", "0.weight", "0.bias"], ["a"], transB=1), helper.make_node("Relu", ["a"], ["b"]),
         helper.make_node("Gemm", ["b", "2.weight", "2.bias"], ["y"], transB=1)]
for name, rows in (("any.onnx", "n"), ("seven.onnx", 7)):
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", 1, [rows, 4])], [helper.make_tensor_value_info("y", 1, [rows, 3])], w)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, name)
P
  served "look like logits" onnx any.onnx
  served "look like logits" onnx seven.onnx
  printf '\x08\x08\x12\x07pytorch' > broken.onnx
  run attack --target-command "$python sotto-serve.py onnx broken.onnx"
  [[ "$output" == *"broken.onnx: cannot be loaded: "* ]]
}

@test "scikit-learn: probabilities, scores and classes, and only with --trust-pickle" {
  needs "sklearn, joblib" "scikit-learn"
  head_and_records
  "$python" - <<'P'
import joblib, numpy, pickle
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.neighbors import NearestCentroid
x, y = numpy.load("x1.npy").astype("f4"), numpy.load("y1.npy").astype("i8")
model = LogisticRegression().fit(x, y)
joblib.dump(model, "plain.joblib")
joblib.dump(model, "small.joblib", compress=3)
pickle.dump(model, open("model.pkl", "wb"))
joblib.dump(LogisticRegression().fit(x, y == 0), "two.joblib")
joblib.dump(LinearSVC().fit(x, y), "scores.joblib")
joblib.dump(NearestCentroid().fit(x, y), "classes.joblib")
joblib.dump({"no": "model"}, "dict.joblib")
P
  for file in plain.joblib small.joblib model.pkl; do
    attack --target-command "$python sotto-serve.py sklearn $file --trust-pickle" > "$file.txt" 2> said.txt
    cmp "$file.txt" plain.joblib.txt
    grep -q "warning: $file is a pickle: loading it runs the code in it" said.txt
    grep -q "answers are the probabilities of predict_proba" said.txt
  done
  run attack --target-command "$python sotto-serve.py sklearn plain.joblib"
  [ "$status" -eq 74 ]
  [[ "$output" == *"give --trust-pickle if you trust it"*"exit status 77"* ]]
  attack --target-command "$python sotto-serve.py sklearn scores.joblib --trust-pickle" 2> said.txt
  grep -q "softmax of decision_function" said.txt
  run attack --target-command "$python sotto-serve.py sklearn dict.joblib --trust-pickle"
  [[ "$output" == *"dict.joblib: holds dict; expected a fitted classifier of scikit-learn"* ]]
  "$SOTTO" attack noise --queries 10 --member-features x1.npy --member-labels y1.npy --nonmember-features x2.npy --nonmember-labels y2.npy \
    --classes 3 --target-command "$python sotto-serve.py sklearn classes.joblib --trust-pickle" --timeout 300 > found.txt
}
