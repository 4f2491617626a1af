"""libkerf_peers through ctypes: cases as arrays, our entry on them, and the oracle."""

import ctypes
import os

# Operands by op, inputs before outputs, and how many of them are inputs.
OPS = {"grid_sampler_grad": (("grad", "x", "grid", "dx", "dgrid"), 3), "grid_sampler": (("x", "grid", "y"), 2),
       "space_to_batch": (("x", "y"), 1), "batch_to_space": (("x", "y"), 1)}
COPIES = ("copy", "copy_streamed")  # rows beside the libraries
MAX_RANK = 12
ISAS = {1: "avx2", 2: "avx512", 4: "neon"}


class Operand(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("n_elements", ctypes.c_int64), ("rank", ctypes.c_int64),
                ("dims", ctypes.c_int64 * MAX_RANK), ("strides", ctypes.c_int64 * MAX_RANK)]


class Verdict(ctypes.Structure):
    _fields_ = [("ratio", ctypes.c_double), ("error", ctypes.c_double), ("largest", ctypes.c_double),
                ("n_bad", ctypes.c_int64), ("n_elements", ctypes.c_int64), ("n_class", ctypes.c_int64)]


class Failure(Exception):
    """One line for the user."""


TELL = ctypes.CFUNCTYPE(None, ctypes.c_char_p)


class Library:
    def __init__(self, build, op="grid_sampler_grad"):
        self.c = ctypes.CDLL(os.path.join(build, "libkerf_peers.so"), mode=os.RTLD_LOCAL)
        pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
        for name, result, arguments in (
                ("read", number, [text, TELL]), ("open", pointer, [text, number, ctypes.c_uint64]),
                ("pin", None, [ctypes.POINTER(number), number]), ("close", None, [pointer]), ("message", text, []),
                ("describe", None, [pointer, number, ctypes.POINTER(Operand)]), ("bytes", ctypes.c_double, [pointer]),
                ("limit_ns", ctypes.c_double, [pointer, number]),
                ("bind", number, [pointer, text]),
                ("bind_copy", number, [pointer, number]),
                ("run", number, [pointer, number]),
                ("poison", None, [pointer, number]), ("gather", None, [pointer, number, number, pointer]),
                ("expect", number, [pointer, number]),
                ("judge", None, [pointer, number, number, pointer, ctypes.POINTER(Verdict)]),
                ("isa", ctypes.c_uint64, []), ("cpu", text, []), ("use", number, [text])):
            function = getattr(self.c, "kerf_peers_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)
        if self.use(op.encode()) != 0:
            self.fail()
        self.op, (self.operands, n_inputs) = op, OPS[op]
        self.inputs, self.outputs = range(n_inputs), range(n_inputs, len(self.operands))

    def fail(self):
        raise Failure(self.message().decode())

    def pin_to(self, cpus):
        self.pin((ctypes.c_int * len(cpus))(*cpus), len(cpus))

    def read_cases(self, path):
        texts = []
        if self.read(path.encode(), TELL(lambda text: texts.append(text.decode()))) != 0:
            self.fail()
        return texts

    def machine(self):
        isas = [name for bit, name in ISAS.items() if self.isa() & bit]
        return {"cpu": self.cpu().decode(), "isa": isas[-1] if isas else "none"}


class Case:
    """One case in memory. Closed by `close`; what was made from its arrays must be gone then."""

    def __init__(self, library, text, threads, offsets):
        self.library, self.text = library, text
        self.fields = fields_of(text)
        self.dtype = self.fields["dtype"]
        self.handle = library.open(text.encode(), threads, offsets)
        if not self.handle:
            library.fail()
        self.bytes = library.bytes(self.handle)
        self.limit_ns = library.limit_ns(self.handle, threads)

    def close(self):
        self.library.close(self.handle)
        self.handle = None

    def operand(self, number):
        operand = Operand()
        self.library.describe(self.handle, number, ctypes.byref(operand))
        return operand

    def bind(self, path):
        """A row of the library at `path`, or one of COPIES."""
        row = (self.library.bind_copy(self.handle, int(path == "copy_streamed")) if path in COPIES
               else self.library.bind(self.handle, path.encode()))
        if row < 0:
            self.library.fail()
        return row

    def caller(self, row):
        """A function that makes one call of the row."""
        run, handle, fail = self.library.run, self.handle, self.library.fail

        def call():
            if run(handle, row) != 0:
                fail()
        return call

    def wants(self, output):
        want = self.fields.get("want", "all")
        return want == "all" or self.library.operands[output] in want.split("+")

    def result(self, row):
        """The outputs of one call on poisoned memory, packed, as {operand: buffer}."""
        self.library.poison(self.handle, row)
        self.caller(row)()
        packed = {}
        for output in filter(self.wants, self.library.outputs):
            packed[output] = ctypes.create_string_buffer(self.operand(output).n_elements * bytes_of(self.dtype) or 1)
            self.library.gather(self.handle, row, output, packed[output])
        return packed

    def expect(self, storage):
        if self.library.expect(self.handle, storage) != 0:
            self.library.fail()

    def judge(self, storage, packed):
        """Of the outputs {operand: buffer or address}: the largest error / slack, the parts of the elements that
        are wrong, and wrong in being finite, and the largest error as a part of the largest value of its output."""
        found = {"ratio": 0.0, "n_bad": 0, "bad_part": 0.0, "class_part": 0.0, "error_part": 0.0}
        n_elements, n_class = 0, 0
        for output, data in packed.items():
            verdict = Verdict()
            self.library.judge(self.handle, storage, output, data, ctypes.byref(verdict))
            found["ratio"] = max(found["ratio"], verdict.ratio)
            found["n_bad"] += verdict.n_bad
            n_elements += verdict.n_elements
            n_class += verdict.n_class
            if verdict.largest > 0:
                found["error_part"] = max(found["error_part"], verdict.error / verdict.largest)
        found["bad_part"] = found["n_bad"] / max(1, n_elements)
        found["class_part"] = n_class / max(1, n_elements)
        return found


def bytes_of(dtype):
    return {"u8": 1, "f16": 2, "bf16": 2, "f32": 4, "f64": 8}[dtype]


def fields_of(text):
    return dict(field.split("=", 1) for field in text.split())


def numbers(case, name):
    """The list that an attribute of the case is."""
    return [int(number) for number in case.fields.get(name, "").split(",") if number]


def pairs(case):
    """Paddings or crops of each block axis."""
    margins = numbers(case, "paddings" if case.library.op == "space_to_batch" else "crops")
    return list(zip(margins[::2], margins[1::2])) or [(0, 0)] * len(numbers(case, "block_shape"))
