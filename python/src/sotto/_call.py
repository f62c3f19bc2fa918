"""The door to the library: every C call of the package goes through run(), with what belongs to it.

Threads     A call that may start OpenMP threads runs in a thread of its own, which ends with it: OpenMP keeps its workers by the
            thread that started them, and after a fork a child would wait for workers that it does not have. These calls are
            those with a context; the others run in the caller's thread.
Interrupts  The caller's thread waits beside the call. An exception that reaches it meanwhile (Ctrl-C, a signal handler's) asks the
            call to stop, which it does within about 0.2 s, and is then raised. A second one is raised at once, but not from
            a call that charges a ledger: that one is always waited for, and the exception names what was charged.
Callbacks   Progress, log lines and questions to a model are served in the caller's thread: autograd modes, devices and notebook
            output are there as the user left them.
Errors      sotto.errors, with the library's text, read in the thread of the call.
Arrays      Float32 and float64 in C order are lent to the call without a copy."""

from __future__ import annotations

import contextlib
import contextvars
import keyword
import _thread
import logging
import math
import os
import queue
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from . import errors
from ._sotto import ffi as ffi
from ._sotto import lib as lib

Progress = Union[bool, None, Callable[[str, int, int, str], Any]]
Array = NDArray[Any]

log = logging.getLogger("sotto")
_LEVELS = {lib.SOTTO_LOG_DEBUG: logging.DEBUG, lib.SOTTO_LOG_INFO: logging.INFO, lib.SOTTO_LOG_WARNING: logging.WARNING}
_home = os.getpid()
_default_threads: int | None = None
_running = threading.local()  # .job of a thread that runs a call


# ---- threads ---------------------------------------------------------------------------------------------------------------
def set_threads(n: int | None) -> None:
    """Threads of every later call without `threads=`. None: SOTTO_NUM_THREADS, else OMP_NUM_THREADS, else the CPUs that the process may
    use, by its affinity and the quota of its control group."""
    global _default_threads
    _default_threads = None if n is None else whole(n, "threads", 1)


def threads_of(threads: int | None) -> int:
    """What `threads=` means. A forked child has one thread unless told otherwise."""
    if threads is not None:
        return whole(threads, "threads", 1)
    if _default_threads is not None:
        return _default_threads
    return int(lib.sotto_default_threads(0 if os.getpid() == _home else 1))


# ---- errors ----------------------------------------------------------------------------------------------------------------
lib.sotto_error_style(lib.SOTTO_STYLE_KEYWORD)


def text_of(c: Any) -> str:
    """A borrowed C text."""
    return "" if c == ffi.NULL else ffi.string(c).decode("utf-8", "replace")


def invalid(text: str, hint: str = "") -> errors.SottoError:
    """For checks of this package."""
    return errors.make("EINVAL", text, hint)


def whole(x: Any, name: str, least: int) -> int:
    """A whole number of at least `least`."""
    try:
        n = x.__index__()
    except AttributeError:
        raise invalid(f"{name} must be a whole number (got {x!r})") from None
    if n < least:
        raise invalid(f"{name} must be at least {least} (got {n})")
    return int(n)


def _failure(status: int) -> errors.SottoError:
    """What the library says of this thread's last failure."""
    return errors.make(text_of(lib.sotto_status_name(status)), text_of(lib.sotto_error_text()), text_of(lib.sotto_error_hint()),
                       text_of(lib.sotto_error_key()) or None)


# ---- calls -----------------------------------------------------------------------------------------------------------------
_deadline: contextvars.ContextVar[float] = contextvars.ContextVar("deadline", default=math.inf)  # of time.monotonic()


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Calls inside stop when so many seconds have gone by, at the end of a step, and raise SottoError ("ESTOPPED").

    A private training with `output`, and without canaries, is then charged for the steps that it took, and the same call goes on
    inside its budget. A stop by Ctrl-C costs all that was reserved: the limit is set before the call, so it tells nothing of the run.

    >>> with sotto.time_limit(3600):
    ...     sotto.scatter(np.zeros((1, 3, 32, 32), "u1")).shape[0]
    1
    """
    if not seconds > 0:
        raise invalid(f"time_limit: {seconds!r} seconds; expected more than 0")
    token = _deadline.set(min(_deadline.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


class _Job:
    """One call in a thread of its own. The thread owns what the call uses, so a caller that leaves early leaves it intact."""

    def __init__(self, function: Any, args: Sequence[Any], threads: int, progress: Callable[..., Any] | None, charges: bool) -> None:
        self.function, self.args, self.report, self.charges = function, args, progress, charges
        self.queue: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self.stop = ffi.new("int *", 0)
        self.deadline = _deadline.get()
        self.handle = ffi.new_handle(self)
        self.result: Any = None
        self.error: errors.SottoError | None = None
        self.pending: BaseException | None = None  # to raise once the call has returned
        self.abandoned = self.finished = self.unanswered = False
        self.begun = threading.Lock()
        self.news: tuple[str, int, int, str] | None = None
        self.context = ffi.new("struct sotto_context *", {
            "threads": threads, "stop": self.stop, "user": self.handle, "log": lib.sotto_python_log,
            "progress": lib.sotto_python_progress if progress else ffi.NULL})

    def body(self) -> None:
        """In the thread of the call."""
        if not self.begun.acquire(blocking=False):
            return
        _running.job = self
        try:
            self.result = self.function(*self.args, self.context)
            if self.result != lib.SOTTO_OK:
                self.error = _failure(self.result)
        except BaseException as e:  # such as a wrong type of an argument
            self.pending = self.pending or e
        finally:
            self.finished = True
            self.queue.put(None)

    def serve(self) -> None:
        """In the caller's thread: what the call asks for, until it ends. An interrupt may come between any two steps, and what get()
        had taken is then lost."""
        while True:
            if self.stop[0] == 0 and time.monotonic() >= self.deadline:
                self.stop[0] = lib.SOTTO_STOP_BY_TIME
            try:
                item = self.queue.get(timeout=0.05)
            except queue.Empty:
                if self.finished and self.queue.empty():
                    return
                continue
            if item is None:
                return
            item()

    def wait(self) -> None:
        """In the caller's thread: the whole call."""
        launched = False
        while True:
            try:
                if not launched:
                    _thread.start_new_thread(self.body, ())
                    launched = True
                self.serve()
                return
            except BaseException as e:
                self.stop[0] = 1
                if self.pending is not None and not self.charges:
                    self.abandoned = True
                    raise
                self.pending = self.pending or e
                if self.begun.acquire(blocking=False):  # it has not begun, and never will
                    return

    def tell(self, news: tuple[str, int, int, str]) -> None:
        """In the thread of the call: progress. Only the latest is kept while the caller is busy."""
        waiting, self.news = self.news, news
        if waiting is None:
            self.queue.put(self.show)

    def show(self) -> None:
        news, self.news = self.news, None
        if news is not None and self.report is not None and self.pending is None:
            self.report(*news)

    def ask(self, question: Callable[[], None]) -> bool:
        """In the thread of the call: something that the caller's thread must do first. False: it failed, or there is no caller."""
        done = threading.Event()
        answered = False

        def item() -> None:
            nonlocal answered
            try:
                if self.pending is None:
                    self.unanswered = True
                    question()
                    self.unanswered, answered = False, True
            finally:
                done.set()

        self.queue.put(item)
        while not done.wait(0.2):
            if self.abandoned or self.pending is not None:
                return False
        return answered


@ffi.def_extern()
def sotto_python_progress(user: Any, stage: Any, done: int, total: int, unit: Any) -> None:
    ffi.from_handle(user).tell((text_of(stage), done, total, text_of(unit)))


@ffi.def_extern()
def sotto_python_log(user: Any, level: int, text: Any) -> None:
    line = text_of(text)
    ffi.from_handle(user).queue.put(lambda: log.log(_LEVELS.get(level, logging.INFO), "%s", line))


@ffi.def_extern(error=lib.SOTTO_EINTERNAL)
def sotto_python_model(user: Any, posteriors: Any, rows: Any, n: int) -> int:
    model: Model = ffi.from_handle(user)
    x = np.frombuffer(ffi.buffer(rows, n * model.inputs * 4), np.float32).reshape(n, model.inputs).copy()  # the model may keep it
    out = np.frombuffer(ffi.buffer(posteriors, n * model.classes * 4), np.float32).reshape(n, model.classes)

    def question() -> None:
        out[...] = model.answer(x)

    job = getattr(_running, "job", None)
    return int(lib.SOTTO_OK if job is not None and job.ask(question) else lib.SOTTO_ESTOPPED)


class Model:
    """A function of rows (n, inputs) to posteriors (n, classes), for sotto_target_open_function() with sotto_python_model."""

    def __init__(self, answer: Callable[[Array], Array], inputs: int, classes: int) -> None:
        self.answer, self.inputs, self.classes = answer, inputs, classes
        self.handle = ffi.new_handle(self)


def takes_context(function: Any) -> bool:
    """Whether a C function's last argument is a context."""
    args = ffi.typeof(function).args
    return bool(args) and args[-1].cname == "struct sotto_context *"


def add_note(error: BaseException, text: str) -> None:
    """One more line of an exception. Before Python 3.11 it becomes an argument."""
    if sys.version_info >= (3, 11):
        error.add_note(text)
    else:
        error.args = (*error.args, text)


def run(function: Any, *args: Any, threads: int | None = None, progress: Progress = False, charges: bool = False, call: Any = None,
        here: bool = False) -> Any:
    """Calls a function of the library; a context is added where it takes one. charges: it writes to a ledger. call: something that
    calls the function. here: it is short, and runs in the caller's thread without a context.

    Returns what the function returns; of one that returns a status: None, or the exception of that status is raised."""
    fallible = ffi.typeof(function).result.cname in ("enum sotto_status", "sotto_status")
    if here or not takes_context(function):
        result = function(*args, ffi.NULL) if here else function(*args)
        if fallible and result != lib.SOTTO_OK:
            raise _failure(result)
        return None if fallible else result
    if time.monotonic() >= _deadline.get():
        raise errors.make("ESTOPPED", "the limit of time had run out before the call began", "give time_limit() more seconds")
    with _Reporter(progress) as report:
        job = _Job(call or function, args, threads_of(threads), report, charges)
        job.wait()
    if job.pending is not None:
        if job.error is not None and not job.unanswered:
            add_note(job.pending, f"sotto: {job.error}")
        raise job.pending
    if job.error is not None:
        raise job.error
    return None


# ---- progress --------------------------------------------------------------------------------------------------------------
class _Reporter:
    """What `progress=` means: a function, or None for silence. The rest is one line that is written over. In a notebook it is printed, as
    what goes to standard error is red there."""

    def __init__(self, progress: Progress) -> None:
        self.progress, self.width = progress, 0
        self.notebook = "ipykernel" in sys.modules
        self.stream = sys.stdout if self.notebook else sys.stderr

    def __enter__(self) -> Callable[..., Any] | None:
        if callable(self.progress):
            return self.progress
        shown = bool(self.progress) if self.progress is not None else self.notebook or bool(self.stream and self.stream.isatty())
        return self.line if shown else None

    def __exit__(self, *_: object) -> None:
        if self.width:
            print(file=self.stream)

    def line(self, stage: str, done: int, total: int, unit: str) -> None:
        text = f"{stage}: {done}{f' of {total}' if total else ''} {unit}"
        print("\r" + text.ljust(self.width), end="", file=self.stream, flush=True)
        self.width = len(text)


# ---- arrays ----------------------------------------------------------------------------------------------------------------
_ITEMS: dict[str, np.dtype[Any]] = {"float": np.dtype(np.float32), "double": np.dtype(np.float64), "int64_t": np.dtype(np.int64), "uint8_t": np.dtype(np.uint8),
          "uint32_t": np.dtype(np.uint32), "size_t": np.dtype(np.uintp), "uint64_t": np.dtype(np.uint64), "char": np.dtype(np.uint8),
          "unsigned char": np.dtype(np.uint8)}


def unmasked(x: Any, name: str) -> Any:
    """x. A masked array is refused by its type, as its mask would be lost, and what is masked is private."""
    if isinstance(x, np.ma.MaskedArray):
        raise invalid(f"{name} is a masked array, whose mask would be lost; fill it by a public value ({name}.filled(0))")
    return x


def numpy_of(x: Any, name: str) -> Array:
    """Anything array-like as a NumPy array that shares its memory where it can: tensors of PyTorch are detached and, from another
    device or of bfloat16, copied once."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(x, torch.Tensor):
        x = x.detach()
        if x.device.type != "cpu":
            log.info("%s: copied from %s", name, x.device)
            x = x.cpu()
        if x.is_conj():
            raise invalid(f"{name} is a conjugate view; call resolve_conj() first")
        if x.dtype == torch.bfloat16:
            x = x.float()
    a = np.asarray(unmasked(x, name))
    if a.dtype.kind not in "fiub" or a.dtype.names:
        raise invalid(f"{name} has dtype {a.dtype}; expected real numbers")
    return a


def array(x: Any, name: str, dtype: Any, ndim: int | None = None, *, also: Any = None) -> Array:
    """An array in C order of this dtype, or of `also`, without a copy if it is one. Values that the dtype cannot hold are refused.

    `name` is the parameter's, for errors. `ndim`: dimensions that it must have."""
    a = numpy_of(x, name)
    if ndim is not None and a.ndim != ndim:
        raise invalid(f"{name} has {a.ndim} dimensions (shape {a.shape}); expected {ndim}")
    want = np.dtype(dtype)
    if also is not None and a.dtype == np.dtype(also):
        want = np.dtype(also)
    if a.dtype == want:
        return np.ascontiguousarray(a) if a.dtype.isnative else np.ascontiguousarray(a, want.newbyteorder("="))
    with np.errstate(all="ignore"):
        b = np.ascontiguousarray(a, want)
    if want.kind in "iu" or a.dtype.kind in "iu":
        if want.kind == "f" or a.dtype.kind == "f":
            same = b.astype(a.dtype) == a
            if want.kind == "f" and a.size:  # 2^63 rounds up, and back to another number
                same &= np.abs(b) <= 2.0 ** (24 if want == np.float32 else 53)
        else:
            same = (b == a) & ((b < 0) == (a < 0))
        if not np.all(same):
            i = int(np.argmin(np.ravel(same)))
            raise invalid(f"{name}: value {i} is {np.ravel(a)[i]!r}, which {want.name} cannot hold exactly")
    elif want == np.float32 and a.dtype.kind == "f" and not np.array_equal(np.isfinite(a), np.isfinite(b)):
        raise invalid(f"{name}: a value is too large for float32")
    return b


def pointer(a: Array, ctype: Any) -> Any:
    """Lends an array to a call as "float *" or the like. What is returned keeps it alive."""
    kind = ffi.typeof(ctype) if isinstance(ctype, str) else ctype
    item = _ITEMS.get(kind.item.cname)
    if item is None or a.dtype != item or not a.flags.c_contiguous:
        raise TypeError(f"array of {a.dtype} lent as {kind.cname}")
    if not a.size:
        return ffi.new(f"{kind.item.cname}[1]")
    return ffi.from_buffer(ffi.typeof(f"{kind.item.cname}[]"), a, require_writable=False)


# ---- structs that go in ----------------------------------------------------------------------------------------------------
_kept: weakref.WeakKeyDictionary[Any, list[Any]] = weakref.WeakKeyDictionary()  # what a struct points to, as long as it lives


def keep(c: Any, *things: Any) -> None:
    """Ties the life of things to that of a struct."""
    _kept.setdefault(c, []).extend(things)


def c_text(s: str | os.PathLike[str]) -> Any:
    """A C text; keep what is returned alive. One with a NUL would end there, and name another file or data set."""
    text = os.fspath(s)
    if "\0" in text:
        raise invalid(f"{text[:80]!r} contains a NUL character; expected a text without")
    return ffi.new("char[]", text.encode("utf-8"))


def c_texts(texts: Sequence[str]) -> Any:
    """Texts up to a NULL."""
    items = [c_text(t) for t in texts]
    c = ffi.new("char *[]", items + [ffi.NULL])
    keep(c, *items)
    return c


def fill(c: Any, /, **members: Any) -> Any:
    """Sets members of a struct: texts, paths, lists of texts, arrays (lent), numbers, other structs (by value or by pointer) and
    dictionaries for structs inside. None leaves a member as it is. Returns the struct."""
    _fill(c, members, c)
    return c


def _fill(c: Any, members: Mapping[str, Any], owner: Any) -> None:
    """The owner keeps what members point to: a struct inside has the address of the one around it, if it is the first member."""
    kind = ffi.typeof(c)
    types = dict((kind.item if kind.kind == "pointer" else kind).fields)
    for name, value in members.items():
        if value is None:
            continue
        want = types[name].type
        if isinstance(value, np.ndarray):
            value = pointer(value, want)
            keep(owner, value)
        elif want.kind == "pointer" and isinstance(value, (str, os.PathLike)):
            value = c_text(value)
            keep(owner, value)
        elif want.kind == "pointer" and isinstance(value, (list, tuple)):
            value = c_texts(value)
            keep(owner, value)
        elif want.kind == "array" and isinstance(value, str):
            value = value.encode("utf-8")
        elif want.kind == "struct" and isinstance(value, Mapping):
            _fill(ffi.addressof(c, name), value, owner)
            continue
        elif isinstance(value, ffi.CData):
            keep(owner, value)
            if want.kind == "struct" and ffi.typeof(value).kind == "pointer":
                value = value[0]
        setattr(c, name, value)


def struct(kind: str, /, **members: Any) -> Any:
    """A new "struct sotto_<kind>", zeros but for these members."""
    return fill(ffi.new(f"struct sotto_{kind} *"), **members)


def out_text(function: Any, *args: Any, **options: Any) -> str:
    """Calls a function with an output `char **` first; returns the text and frees the C one."""
    out = ffi.new("char **")
    run(function, out, *args, **options)
    try:
        return text_of(out[0])
    finally:
        lib.sotto_text_free(out[0])


# ---- options ---------------------------------------------------------------------------------------------------------------
def _python_name(name: str) -> str:
    """Of an option: "step-size" is step_size, "from" is from_."""
    name = name.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


class Option:
    """One row of an option table of the library."""

    def __init__(self, row: Any) -> None:
        self.row, self.type = row, row.type
        self.name = _python_name(text_of(row.name))
        self.key, self.unit, self.default = text_of(row.key), text_of(row.unit), text_of(row.value)
        self.range, self.help, self.group = text_of(row.range), text_of(row.help), text_of(row.group)
        self.names = {self.name, _python_name(self.key.rpartition(".")[2])}
        for more in (row.aliases, row.old_names):
            self.names.update(_python_name(n) for n in text_of(more).split("|") if n)

    def line(self) -> str:
        """For a docstring."""
        facts = [f for f in (f"default {self.default}" if self.default else "", self.range.replace("|", " | ")) if f]
        return f"{self.name}: {self.help}{f' ({chr(59).join(facts)})' if facts else ''}".replace(";", "; ")


class Table:
    """An option table: keyword arguments, defaults, ranges and help of a call."""

    def __init__(self, rows: Any, inputs: bool = False) -> None:
        self.rows, self.options = rows, []
        i = 0
        while rows[i].name != ffi.NULL:
            if inputs or rows[i].type != lib.SOTTO_OPTION_INPUT:
                self.options.append(Option(rows + i))
            i += 1
        self.size = rows[i].capacity
        self.by_name = {n: o for o in self.options for n in o.names}
        self.by_name.update({o.name: o for o in self.options})

    def __iter__(self) -> Iterator[Option]:
        return iter(self.options)

    def take(self, given: dict[str, Any], but: Sequence[str] = ()) -> dict[str, Any]:
        """Removes and returns those of the keyword arguments that are in this table, but for some options."""
        return {k: given.pop(k) for k in list(given) if k in self.by_name and self.by_name[k].name not in but}

    def set(self, c: Any, given: Mapping[str, Any]) -> Any:
        """Sets members of a struct by keyword arguments and checks their ranges. None stands for the default. Returns the struct."""
        for name, value in given.items():
            if value is not None:
                self._set(c, self.by_name[name], value)
        whole_struct = ffi.new("char[]", self.size)
        run(lib.sotto_options_resolve, whole_struct, c, self.rows)
        keys = "|".join(self.by_name[n].key for n, v in given.items() if v is not None)
        if keys:
            run(lib.sotto_options_check, whole_struct, self.rows, keys.encode())
        return c

    def _set(self, c: Any, o: Option, value: Any) -> None:
        place = ffi.cast("char *", c) + o.row.offset
        if o.type == lib.SOTTO_OPTION_REALS:
            values = array(value if np.ndim(value) else [value], o.name, np.float64, 1)
            for x in values:
                run(lib.sotto_option_check_number, o.row, float(x))
            lent = pointer(values, "double *")
            ffi.cast("double **", place)[0] = lent
            ffi.cast("size_t *", ffi.cast("char *", c) + o.row.count)[0] = len(values)
            keep(c, lent)
        elif o.type == lib.SOTTO_OPTION_LIST:
            texts = c_texts([value] if isinstance(value, str) else [str(v) for v in value])
            ffi.cast("char ***", place)[0] = texts
            keep(c, texts)
        else:
            text = c_text(self._text(o, value))
            keep(c, text)
            run(lib.sotto_option_set, c, o.row, text)

    @staticmethod
    def _text(o: Option, value: Any) -> str:
        """A value as on the command line."""
        if isinstance(value, (str, os.PathLike)):
            return os.fspath(value)
        if o.name == "max_tpr" and isinstance(value, (tuple, list)) and len(value) == 2:
            return "@".join(repr(float(rate)) for rate in value)
        if o.type == lib.SOTTO_OPTION_FLAG:
            return "1" if value else "0"
        if o.type == lib.SOTTO_OPTION_SIZES:
            return ",".join(str(whole(v, o.name, 0)) for v in (value if np.ndim(value) else [value])) or "0"
        if o.type in (lib.SOTTO_OPTION_COUNT, lib.SOTTO_OPTION_SEED):
            return str(whole(value, o.name, 0))
        if o.type == lib.SOTTO_OPTION_REAL:
            try:
                return repr(float(value))
            except (TypeError, ValueError):
                pass
        raise invalid(f"{o.name} must be a {'text' if o.type == lib.SOTTO_OPTION_TEXT else 'number'} (got {value!r})")


def noise_once(function: str, noise: str, *given: Any) -> None:
    """Exactly one of these says how much noise: the noise itself, an epsilon, or a risk."""
    if sum(x is not None and x is not False for x in given) != 1:
        raise errors.make("EUSAGE", f"{function}: give exactly one of {noise}=, epsilon=, max_tpr= and max_advantage=")


def noise_in(c: Any) -> tuple[bool, bool, bool]:
    """What of it a struct with a target and a risk holds."""
    return c.target.epsilon != 0, c.risk.max_tpr != ffi.NULL, c.risk.max_advantage != 0


_tables: dict[tuple[str, bool], Table] = {}


def table(name: str, inputs: bool = False) -> Table:
    """The table of options of this name, such as "audit"."""
    if (name, inputs) not in _tables:
        _tables[name, inputs] = Table(lib.sotto_option_table(name.encode()), inputs)
    return _tables[name, inputs]


def unknown(function: str, given: Mapping[str, Any], tables: Sequence[Table], but: Sequence[str] = ()) -> None:
    """Raises for keyword arguments that no table took. but: options of the tables that this function does not have."""
    import difflib
    for name in given:
        near = difflib.get_close_matches(name, [o.name for t in tables for o in t if o.name not in but], 1)
        raise TypeError(f"{function}() has no parameter {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))


# ---- notebooks -------------------------------------------------------------------------------------------------------------
class Frame:
    """A page for a notebook, in a frame that can reach nothing around it."""

    def __init__(self, page: str, height: int) -> None:
        self._page, self._height = page, height

    def _repr_html_(self) -> str:
        import html
        return f'<iframe srcdoc="{html.escape(self._page)}" sandbox="allow-scripts" width="100%" height="{self._height}"></iframe>'
