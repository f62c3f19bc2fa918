"""What heads and networks share: answers as of a classifier of scikit-learn, files with certificates, weights under PyTorch's names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from . import _tensors
from ._call import Array, array, c_text, ffi, invalid, lib, run, struct, table
from ._certificate import Certificate
from ._dataset import Dataset
from ._records import Record, read
from ._shaped import Shaping, beside, made_from, provenance, shape, shaped_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import AnswerOptions

C = TypeVar("C", bound="Classifier")
Path = str | os.PathLike[str]


class Classifier:
    """Classes are 0 .. classes - 1. It cannot be changed. `certificate`: of a privately trained model, else None: then nothing is proved
    about the records that trained it."""

    _kind: ClassVar[str] = ""  # sotto_<kind>_free(), ...
    _recipe: ClassVar[tuple[str, str]]  # its struct and option table

    def __init__(self, c: Any, certificate: Certificate | None = None, source: Dataset | None = None, shaped: tuple[Shaping, ...] = ()) -> None:
        self._c = ffi.gc(c, self._lib("free"))
        self._certificate, self._source = certificate, source
        self._shaped = shaped  # by what, besides what the records of `source` say
        self._whose: Any = None  # what stood beside the file that it was read from
        self._file: bytes | None = None  # what the certificate is about, of a model that was read with one

    @classmethod
    def _lib(cls, name: str) -> Any:
        return getattr(lib, f"sotto_{cls._kind}_{name}")

    @property
    def certificate(self) -> Certificate | None:
        return self._certificate

    @property
    def inputs(self) -> int:
        """Numbers of a record."""
        return int(self._lib("inputs")(self._c))

    @property
    def classes(self) -> int:
        """Number of classes."""
        return int(self._lib("classes")(self._c))

    @property
    def classes_(self) -> Array:
        """0 .. classes - 1, as scikit-learn calls them."""
        return np.arange(self.classes)

    def _read_recipe(self, c: Any) -> Record | None:
        if c == ffi.NULL:
            return None
        resolved = struct(self._recipe[0])
        run(lib.sotto_options_resolve, resolved, c, table(self._recipe[1]).rows)
        found = read(resolved)
        assert isinstance(found, Record)
        return found

    # ---- answers
    def _marked(self, answers: Array, x: Any) -> Array:
        """As columns, answers are shaped by the records of the model; a certificate's ledger has charged these already."""
        of = self._source._provenance() if self._source else self._whose
        trained = () if self._certificate is not None else made_from("model", type(self).__name__, of)
        return shape(answers, (*trained, *self._shaped, *shaped_of(x)))  # type: ignore[no-any-return]

    def _answers(self, x: Any, logits: int, threads: int | None, given: dict[str, Any]) -> Array:
        raise NotImplementedError

    def logits(self, x: Any, *, threads: int | None = None, **options: Unpack[AnswerOptions]) -> Array:
        """float32 (n, classes). x: records of the model's shape, finite."""
        return self._marked(self._answers(x, 1, threads, dict(options)), x)

    def predict_proba(self, x: Any, *, threads: int | None = None, **options: Unpack[AnswerOptions]) -> Array:
        """Probabilities, float32 (n, classes). x: records of the model's shape, finite."""
        return self._marked(self._answers(x, 0, threads, dict(options)), x)

    def predict(self, x: Any, *, threads: int | None = None, **options: Unpack[AnswerOptions]) -> Array:
        """The likeliest classes, int64 (n); of equal ones the lower."""
        return np.asanyarray(np.argmax(self.logits(x, threads=threads, **options), 1), np.int64)

    def score(self, x: Any, y: Any, *, threads: int | None = None, **options: Unpack[AnswerOptions]) -> float:
        """Share of right answers. y: (n) classes. It tells of these records: of private ones it is not protected."""
        labels, answers = array(y, "y", np.int64, 1), self.predict(x, threads=threads, **options)
        if len(answers) != len(labels):
            raise invalid(f"x has {len(answers)} records, but y has {len(labels)}")
        return float(np.mean(answers == labels))

    # ---- weights and files
    def _bytes(self) -> bytes:
        return _tensors.bytes_of(self._lib("save_bytes"), self._c)

    @property
    def weights(self) -> dict[str, Array]:
        """Copies of the tensors by PyTorch's names, such as "0.weight" (out, in), "0.bias"."""
        return _tensors.arrays_of(self._bytes())

    def state_dict(self) -> dict[str, Any]:
        """The same as tensors of PyTorch, which must be installed."""
        return _tensors.torch_of(self.weights)

    @classmethod
    def _of_bytes(cls: type[C], data: bytes, certificate: Certificate | None = None, as_it_is: bool = False) -> C:
        out = ffi.new(f"struct sotto_{cls._kind} **")
        run(cls._lib("load_bytes"), out, data, len(data))
        made = cls(out[0], certificate)
        made._file = data if as_it_is else None
        return made

    def __reduce__(self) -> Any:
        return type(self)._of_bytes, (self._file or self._bytes(), self._certificate, self._file is not None)

    def save(self, path: Path) -> str:
        """Writes .safetensors, and of a private model PATH.certificate.json beside it; returns the path."""
        if self._certificate is not None and self._file is not None:
            part = os.fspath(path) + ".part"
            with open(part, "wb") as f:
                f.write(self._file)
            os.replace(part, path)
            self._certificate.save(os.fspath(path) + ".certificate.json", path)
        elif self._certificate is not None:
            run(self._lib("save_private"), c_text(path), self._c, self._certificate._c)
            self._saved_at(os.fspath(path))
        else:
            run(self._lib("save"), c_text(path), self._c)
            whose = self._source._provenance() if self._source else self._whose
            run(lib.sotto_provenance_save, c_text(path), provenance(whose, self._shaped))
        return os.fspath(path)

    def _saved_at(self, path: str) -> None:
        """A private model is in a file now, with its certificate beside it."""
        assert self._certificate is not None
        self._certificate._path = path + ".certificate.json"

    @classmethod
    def load(cls: type[C], path: Path) -> C:
        """Reads such a file and the certificate beside it."""
        out = ffi.new(f"struct sotto_{cls._kind} **")
        run(cls._lib("load"), out, c_text(path))
        certificate = os.fspath(path) + ".certificate.json"
        model = cls(out[0])
        model._whose = beside(c_text(path))
        if os.path.exists(certificate):
            model._certificate = Certificate.load(certificate)
            with open(path, "rb") as f:
                model._file = f.read()
        return model

    def _told(self) -> str:
        return self._certificate.statement if self._certificate else "no certificate"
