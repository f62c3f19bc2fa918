#!/usr/bin/env python3
"""Serves a model of another framework to sotto: rows of numbers in, posteriors out (docs/FORMATS.md, "Target commands").

    sotto attack NAME --target-command 'sotto-serve-torch model.pt' ...
    sotto-serve-torch model.pt              TorchScript (torch.jit.save) or torch.export (.pt2)
    sotto-serve-torch weights.pt --factory my_package:make_model     a state_dict, and the function that makes the network
    sotto-serve-torch --factory my_package:make_model                a network that comes with its weights
    sotto-serve-onnx model.onnx
    sotto-serve-sklearn model.joblib --trust-pickle

In the source tree: sotto-serve.py torch|onnx|sklearn FILE. One line on stderr says what is wrong with a file, and for which
of these programs it is. Exit code: 64 usage, 65 not such a model, 66 no file, 69 the framework is missing, 77 a pickle without
--trust-pickle. Needs the framework and Python's standard library.
"""
import argparse, ast, importlib, os, pickletools, struct, sys, zipfile

KINDS = ("torch", "onnx", "sklearn")


class Refused(Exception):
    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


# ---- what a file is, by its bytes; nothing of it is run ----
IS = {"torchscript": "a TorchScript archive", "pt2": "a program of torch.export", "weights": "a state_dict: weights without a network",
      "checkpoint": "a training checkpoint, with the weights in one of its members",
      "lightning": "a Lightning checkpoint, with the weights in its member state_dict",
      "module": "a pickled nn.Module, which runs code when it is loaded", "legacy": "a file of torch.save of 2020 or earlier",
      "pickle": "a pickle of Python", "joblib": "a compressed file, as joblib writes them", "safetensors": "a .safetensors file: weights without a network",
      "onnx": "an ONNX model", "tensorflow": "a TensorFlow model", "keras": "a Keras model", "numpy": "a file of NumPy arrays",
      "zip": "a zip archive of another program", "unknown": "of no known kind"}
INSTEAD = {"torchscript": "sotto-serve-torch serves it", "pt2": "sotto-serve-torch serves it", "onnx": "sotto-serve-onnx serves it",
           "weights": "give --factory MODULE:FUNCTION to sotto-serve-torch", "safetensors": "give --factory MODULE:FUNCTION to sotto-serve-torch",
           "checkpoint": "save the network's own weights: torch.save(model.state_dict(), ...)",
           "lightning": "save the network's own weights: torch.save(module.model.state_dict(), ...)",
           "module": "save its torch.jit.script(), torch.export, or state_dict()",
           "legacy": "save the model again with a PyTorch of today", "tensorflow": "convert it to ONNX (tf2onnx) for sotto-serve-onnx",
           "keras": "convert it to ONNX (tf2onnx) for sotto-serve-onnx", "pickle": "sotto-serve-sklearn serves models of scikit-learn",
           "joblib": "sotto-serve-sklearn serves models of scikit-learn"}
LEGACY_TORCH = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
PLAIN_GLOBALS = ("collections", "torch", "torch._utils", "torch.storage", "torch.serialization", "_codecs", "numpy", "numpy._core.multiarray",
                 "numpy.core.multiarray", "builtins", "__builtin__", "copy_reg")


def pickled(data):
    """What a pickle of torch.save holds, by its opcodes: the names of classes and the texts in it."""
    classes, texts = set(), []
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name == "GLOBAL":
            classes.add(argument.split(" ")[0])
        elif opcode.name == "STACK_GLOBAL" and len(texts) > 1:
            classes.add(texts[-2])
        elif isinstance(argument, str):
            texts.append(argument)
    if "pytorch-lightning_version" in texts:
        return "lightning"
    if not classes <= set(PLAIN_GLOBALS):
        return "module"
    return "checkpoint" if {"state_dict", "model_state_dict", "optimizer", "optimizer_state_dict"} & set(texts) else "weights"


def kind_of_archive(path):
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        inside = {name.split("/", 1)[-1] for name in names}  # below the folder that torch puts around
        if "archive_format" in inside or any(name.endswith("serialized_exported_program.json") for name in names):
            return "pt2"
        if "constants.pkl" in inside:
            return "torchscript"
        if "data.pkl" in inside:
            return pickled(archive.read(next(name for name in names if name.endswith("data.pkl"))))
        if "model.weights.h5" in inside:
            return "keras"
        return "numpy" if names and all(name.endswith(".npy") for name in names) else "zip"


def kind_of(path):
    if os.path.isdir(path):
        return "tensorflow" if os.path.exists(os.path.join(path, "saved_model.pb")) else "unknown"
    with open(path, "rb") as file:
        head = file.read(64)
    if head[:4] == b"PK\3\4":
        try:
            return kind_of_archive(path)
        except Exception as problem:
            raise Refused(65, f"{path}: is a damaged archive ({one_line(problem)})")
    if head.startswith(LEGACY_TORCH):
        return "legacy"
    if head[:1] == b"\x80" and head[1:2] in (b"\2", b"\3", b"\4", b"\5"):
        return "pickle"
    if len(head) > 8 and head[8:9] == b"{" and struct.unpack("<Q", head[:8])[0] <= os.path.getsize(path) - 8:
        return "safetensors"
    if head[:6] == b"\x93NUMPY":
        return "numpy"
    if head[:4] == b"\x89HDF":
        return "keras"
    if head[4:8] == b"TFL3" or head[:3] == b"\x08\x01\x12":
        return "tensorflow"
    if head[:1] == b"\x08" and 1 < len(head) and 2 <= head[1] < 64:
        return "onnx"
    if head[:2] in (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda", b"\x1f\x8b", b"BZ") or head[:6] == b"\xfd7zXZ\0":
        return "joblib"
    return "unknown"


def one_line(problem):
    return " ".join(str(problem).split())[:300] or type(problem).__name__


def say(text):
    print(f"{PROGRAM}: {text}", file=sys.stderr, flush=True)


def framework(*modules):
    """The first of these modules, all of which must be there."""
    try:
        return [importlib.import_module(module) for module in modules][0]
    except ImportError as problem:
        raise Refused(69, f"{modules[0]} is not installed for {sys.executable} ({one_line(problem)})")


def require(path, served):
    if not os.path.exists(path):
        raise Refused(66, f"{path}: there is no such file")
    kind = kind_of(path)
    if kind not in served:
        raise Refused(65, f"{path}: is {IS[kind]}; {INSTEAD.get(kind, 'expected a model that this program serves (see --help)')}")
    return kind


# ---- models: each loader returns (xp, predict, encode); predict: rows as bytes, their shape -> an array in double of xp, or classes;
# encode: an array -> dtype and bytes. xp is torch or numpy, of which the same functions are used ----
def load_torch(options):
    kind = require(options.model, ["torchscript", "pt2"] + ["weights", "safetensors"] * bool(options.factory)) if options.model else None
    if options.factory and kind in ("torchscript", "pt2"):
        raise Refused(64, f"{options.model}: is {IS[kind]}, which has its network in it; leave out --factory")
    if options.model and (kind == "torchscript") == options.model.endswith(".pt2") and kind in ("torchscript", "pt2"):
        say(f"note: {options.model} is {IS[kind]}, whatever its name says")
    torch = framework("torch")
    if kind == "pt2":
        model = torch.export.load(options.model).module()
    elif kind == "torchscript":
        model = torch.jit.load(options.model, map_location="cpu")
    else:
        model = made(options.factory)
        if not isinstance(model, torch.nn.Module):
            raise Refused(65, f"--factory {options.factory}: returned {type(model).__name__}; expected an nn.Module")
    if kind in ("weights", "safetensors"):
        weights = torch.load(options.model, map_location="cpu", weights_only=True) if kind == "weights" else \
            framework("safetensors.torch").load_file(options.model)
        fill(model, weights, options)
    if kind != "pt2":
        model.eval()  # dropout off, batch norm frozen: as it is deployed; a program of torch.export is as it was exported

    def predict(data, shape):
        with torch.inference_mode():
            answers = model(torch.frombuffer(bytearray(data), dtype=torch.float32).reshape(shape))
        answers = getattr(answers, "logits", answers)
        if isinstance(answers, dict) and "logits" in answers:
            answers = answers["logits"]
        if not isinstance(answers, torch.Tensor):
            raise Refused(65, f"the model answers {type(answers).__name__}; expected one tensor (n, classes)")
        return answers.double()

    def encode(answers):
        return "<f4", bytes(answers.float().contiguous().clone().untyped_storage())
    return torch, predict, encode


def made(factory):
    module, _, function = factory.partition(":")
    sys.path.insert(0, os.getcwd())
    try:
        return getattr(importlib.import_module(module), function)()
    except Exception as problem:
        raise Refused(65, f"--factory {factory}: {type(problem).__name__}: {one_line(problem)}; expected MODULE:FUNCTION that returns a network")


def fill(model, weights, options):
    try:
        model.load_state_dict(weights)
    except Exception as problem:
        raise Refused(65, f"{options.model}: is not the state_dict of --factory {options.factory}: {one_line(problem)}")


def numpy_encode(numpy, answers):
    dtype = "<i8" if answers.ndim == 1 else "<f4"
    return dtype, numpy.ascontiguousarray(answers, dtype).tobytes()


def load_onnx(options):
    require(options.model, ["onnx"])
    onnxruntime, numpy = framework("onnxruntime", "numpy"), framework("numpy")
    session = onnxruntime.InferenceSession(options.model, providers=["CPUExecutionProvider"])
    given, outputs = session.get_inputs()[0], session.get_outputs()
    floats = [o for o in outputs if o.type.startswith(("tensor(float", "tensor(double"))] or [o for o in outputs if o.type.startswith("seq(map(")]
    if not floats or len(session.get_inputs()) != 1:
        raise Refused(65, f"{options.model}: has {len(session.get_inputs())} inputs and outputs of {', '.join(o.type for o in outputs)}; "
                          "expected one input and an output of probabilities or logits")
    dtype = {"tensor(float16)": "f2", "tensor(double)": "f8"}.get(given.type, "f4")
    if given.shape and len(given.shape) == 2:  # rows, whatever SOTTO_IMAGE says
        options.shape = None
    fixed = given.shape[0] if given.shape and isinstance(given.shape[0], int) else None

    def run(rows):
        answers = session.run([floats[0].name], {given.name: rows})[0]
        if isinstance(answers, list):  # of skl2onnx: one dict a row
            answers = [[row[k] for k in sorted(row)] for row in answers]
        return numpy.asarray(answers, "f8")

    def predict(data, shape):
        rows = numpy.frombuffer(data, "<f4").reshape(shape).astype(dtype)
        if not fixed:
            return run(rows)
        parts = [rows[i:i + fixed] for i in range(0, len(rows), fixed)]  # a graph of one batch size: the last part is filled up
        return numpy.concatenate([run(numpy.resize(part, (fixed, *part.shape[1:])))[:len(part)] for part in parts])
    return numpy, predict, lambda answers: numpy_encode(numpy, answers)


def load_sklearn(options):
    require(options.model, ["pickle", "joblib"])
    if not options.trust_pickle:
        raise Refused(77, f"{options.model}: is a pickle, which runs code of its maker when it is loaded; give --trust-pickle if you trust it")
    say(f"warning: {options.model} is a pickle: loading it runs the code in it")
    joblib, numpy = framework("joblib", "sklearn"), framework("numpy")
    model = joblib.load(options.model)
    ways = [way for way in ("predict_proba", "decision_function", "predict") if hasattr(model, way)]
    if not ways or not hasattr(model, "classes_"):
        raise Refused(65, f"{options.model}: holds {type(model).__name__}; expected a fitted classifier of scikit-learn")
    if list(model.classes_) != list(range(len(model.classes_))):
        say(f"note: class 0, 1, ... of the answers are {', '.join(map(str, model.classes_[:8]))}{', ...' if len(model.classes_) > 8 else ''}")
    if not options.answers:
        options.answers = "probabilities" if ways[0] == "predict_proba" else "logits"
        say({"predict_proba": "answers are the probabilities of predict_proba", "predict": "answers are classes of predict (give --classes to sotto)",
             "decision_function": "answers are the softmax of decision_function, as the model has no probabilities"}[ways[0]])

    def predict(data, shape):
        answers = getattr(model, ways[0])(numpy.frombuffer(data, "<f4").reshape(shape))
        if ways[0] == "predict":
            return numpy.searchsorted(model.classes_, answers)
        answers = numpy.asarray(answers, "f8")
        return answers[:, None] if answers.ndim == 1 else answers
    return numpy, predict, lambda answers: numpy_encode(numpy, answers)


# ---- answers: logits or probabilities ----
def probabilities(xp, answers, options):
    """(n, classes) that sum to 1. A single column is the second of two classes."""
    if answers.ndim != 2:
        raise Refused(65, f"the model answers an array of shape {tuple(answers.shape)}; expected (n, classes)")
    alone = answers.shape[1] == 1
    if not options.answers:
        if alone:
            raise Refused(65, "the model answers one number a row; say --answers logits or --answers probabilities")
        sums = xp.sum(answers, axis=1)
        options.answers = "probabilities" if bool((answers >= 0).all()) and bool((abs(sums - 1) <= 1e-3).all()) else "logits"
        say(f"the first answers look like {options.answers}" + "; --answers says otherwise")
    if options.answers == "probabilities":
        return xp.concatenate([1 - answers, answers], axis=1) if alone else answers
    if alone:
        answers = xp.concatenate([xp.zeros_like(answers), answers], axis=1)
    powers = xp.exp(answers - xp.amax(answers, axis=1, keepdims=True))
    return powers / xp.sum(powers, axis=1, keepdims=True)


# ---- frames: one .npy after the other ----
def read_exactly(stdin, count):
    data = stdin.read(count)
    if len(data) < count:
        raise Refused(65, "stdin ended within a frame")
    return data


def read_rows(stdin):
    """Version 1.0, f4 in C order: what sotto sends. None at the end of the stream."""
    if not (first := stdin.read(1)):
        return None
    head = first + read_exactly(stdin, 9)
    if head[:8] != b"\x93NUMPY\x01\x00":
        raise Refused(65, "stdin is not a stream of .npy frames; sotto starts this program (--target-command)")
    header = ast.literal_eval(read_exactly(stdin, struct.unpack("<H", head[8:])[0]).decode("latin-1"))
    if header["descr"] != "<f4" or header["fortran_order"] or len(header["shape"]) != 2:
        raise Refused(65, f"expected rows of <f4, got {header}")
    n, d = header["shape"]
    return n, d, read_exactly(stdin, 4 * n * d)


def write_answers(stdout, dtype, data, shape):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    stdout.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode("latin-1") + data)
    stdout.flush()


def serve(stdin, stdout, loaded, options):
    xp, predict, encode = loaded
    while (frame := read_rows(stdin)) is not None:
        n, d, data = frame
        try:
            answers = predict(data, [n, *(options.shape or [d])])
        except Refused:
            raise
        except Exception as problem:
            hint = "" if options.shape else "; images need --shape C,H,W"
            raise Refused(65, f"the model refused {n} rows of {options.shape or d} numbers: {one_line(problem)}{hint}")
        if answers.ndim != 1 or PROGRAM != "sotto-serve-sklearn":
            answers = probabilities(xp, answers, options)
        if answers.shape[0] != n:
            raise Refused(65, f"the model answers {answers.shape[0]} rows to {n}; expected one for each")
        write_answers(stdout, *encode(answers), [int(size) for size in answers.shape])


def shape(text):
    return [int(size) for size in text.split(",")]


def arguments(kind, words):
    parser = argparse.ArgumentParser(prog=PROGRAM, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?" if kind == "torch" else None, help="file of the model")
    parser.add_argument("--shape", type=shape, metavar="C,H,W", default=None if kind == "sklearn" else os.environ.get("SOTTO_IMAGE"),
                        help="shape of a row, for models that take images (default: SOTTO_IMAGE, which sotto sets where it knows)")
    parser.add_argument("--answers", choices=["logits", "probabilities"], help="what the model returns (default: seen from the first answers)")
    parser.set_defaults(factory=None, trust_pickle=False)
    if kind == "torch":
        parser.add_argument("--factory", metavar="MODULE:FUNCTION", help="function without arguments that returns the network")
    if kind == "sklearn":
        parser.add_argument("--trust-pickle", action="store_true", help="permission to run the code in the file")
    parser.error = lambda text: sys.exit(print(f"{PROGRAM}: {text}; see --help", file=sys.stderr) or 64)
    options = parser.parse_args(words)
    if not options.model and not options.factory:
        parser.error("no file; give a model, or --factory")
    return options


def main():
    global PROGRAM
    name, words = os.path.basename(sys.argv[0]), sys.argv[1:]
    kind = name.removeprefix("sotto-serve-")
    if kind not in KINDS:
        if not words or words[0] not in KINDS:
            print(__doc__ if words[:1] in (["-h"], ["--help"]) else f"{name}: expected torch, onnx or sklearn; see --help", file=sys.stderr)
            return 0 if words[:1] in (["-h"], ["--help"]) else 64
        kind, words = words[0], words[1:]
    PROGRAM = "sotto-serve-" + kind
    options = arguments(kind, words)
    stdin, stdout = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the model prints must not end up between the frames
    try:
        try:
            loaded = {"torch": load_torch, "onnx": load_onnx, "sklearn": load_sklearn}[kind](options)
        except Refused:
            raise
        except Exception as problem:
            raise Refused(65, f"{options.model or options.factory}: cannot be loaded: {type(problem).__name__}: {one_line(problem)}")
        serve(stdin, stdout, loaded, options)
    except Refused as refused:
        say(refused)
        return refused.code
    except (BrokenPipeError, KeyboardInterrupt):
        return 0
    return 0


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)  # frameworks take seconds to leave, and sotto waits no longer than two
