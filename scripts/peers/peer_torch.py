"""PyTorch as a peer: aten's own forward or backward on the arrays of a case."""

import ctypes

import torch

from library import bytes_of

DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}
INTERPOLATIONS = {"bilinear": 0, "nearest": 1, "bicubic": 2}
PADDINGS = {"zeros": 0, "border": 1, "reflection": 2}

version = torch.__version__
set_threads = torch.set_num_threads


def tensor_of(case, number):
    """The operand where it lies, no copy; strides are those of the case, so channels-last stays channels-last. f16 and
    bf16 are copied into PyTorch's heap: 2.15 keeps the offsets of taps in 16 bits, reads up to 64 KiB before an image
    for that reason, and would crash instead of giving a time (docs/peers.md)."""
    operand = case.operand(number)
    dims, strides = list(operand.dims), list(operand.strides)
    n_elements = 1 + sum((dim - 1) * stride for dim, stride in zip(dims, strides))
    memory = (ctypes.c_char * (n_elements * bytes_of(case.dtype))).from_address(operand.data)
    tensor = torch.frombuffer(memory, dtype=DTYPES[case.dtype]).as_strided(dims, strides)
    return tensor.clone(memory_format=torch.preserve_format) if bytes_of(case.dtype) == 2 else tensor


def caller(case):
    """A function that makes one call and returns its results."""
    inputs = [tensor_of(case, number) for number in case.library.inputs]
    interpolation = INTERPOLATIONS[case.fields.get("interpolation_mode", "bilinear")]
    padding = PADDINGS[case.fields.get("padding_mode", "zeros")]
    aligned = case.fields.get("align_corners", "false") == "true"
    if case.library.op == "grid_sampler":
        forward = torch.ops.aten.grid_sampler_2d.default
        return lambda: (forward(*inputs, interpolation, padding, aligned),)
    backward = torch.ops.aten.grid_sampler_2d_backward.default
    wanted = [case.wants(output) for output in case.library.outputs]
    return lambda: backward(*inputs, interpolation, padding, aligned, wanted)


def result(case):
    """The outputs of one call, packed, as {operand: address}, with what keeps them alive."""
    found = zip(case.library.outputs, caller(case)())
    tensors = {output: tensor.contiguous() for output, tensor in found if case.wants(output)}
    return {output: tensor.data_ptr() for output, tensor in tensors.items()}, tensors
