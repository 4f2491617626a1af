"""What peers share that take and give NumPy's arrays."""

import ctypes

import numpy

from library import bytes_of

DTYPES = {"u8": numpy.uint8, "f16": numpy.float16, "f32": numpy.float32, "f64": numpy.float64}


def array_of(case, number):
    """The operand where it lies; dense operands only."""
    operand = case.operand(number)
    if case.dtype not in DTYPES or case.fields.get("layout"):
        raise RuntimeError(f"dtype={case.dtype} in this layout is not compared")
    memory = (ctypes.c_char * (operand.n_elements * bytes_of(case.dtype))).from_address(operand.data)
    return numpy.frombuffer(memory, DTYPES[case.dtype]).reshape(list(operand.dims)[:operand.rank])


def addresses(case, arrays):
    """Packed results as {operand: address}, with what keeps them alive."""
    dense = {output: numpy.ascontiguousarray(array) for output, array in zip(case.library.outputs, arrays)}
    return {output: array.ctypes.data for output, array in dense.items()}, dense
