"""PyTorch as a peer: aten's own forward or backward of the grid sampler on the arrays of a case; for space and batch
the form that is in use there: pad, reshape, permute, contiguous."""

import ctypes

import torch

from library import bytes_of, numbers, pairs

DTYPES = {"u8": torch.uint8, "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}
INTERPOLATIONS = {"bilinear": 0, "nearest": 1, "bicubic": 2}
PADDINGS = {"zeros": 0, "border": 1, "reflection": 2}

version = torch.__version__
set_threads = torch.set_num_threads


def tensor_of(case, number):
    """The operand where it lies, no copy; strides are those of the case, so channels-last stays channels-last. f16 and
    bf16 are copied into PyTorch's heap: 2.15 keeps the offsets of taps in 16 bits, reads up to 64 KiB before an image
    for that reason, and would crash instead of giving a time (docs/peers.md)."""
    operand = case.operand(number)
    dims, strides = list(operand.dims)[:operand.rank], list(operand.strides)[:operand.rank]
    n_elements = 1 + sum((dim - 1) * stride for dim, stride in zip(dims, strides))
    memory = (ctypes.c_char * (n_elements * bytes_of(case.dtype))).from_address(operand.data)
    tensor = torch.frombuffer(memory, dtype=DTYPES[case.dtype]).as_strided(dims, strides)
    copied = bytes_of(case.dtype) == 2 and case.library.op.startswith("grid_sampler")
    return tensor.clone(memory_format=torch.preserve_format) if copied else tensor


def space_to_batch(x, block, margins):
    rest = x.shape[1 + len(block):]
    if any(map(any, margins)):
        flat = [side for pair in reversed(margins) for side in pair]
        x = torch.nn.functional.pad(x, [0] * 2 * len(rest) + flat)
    n, sizes = x.shape[0], [size // b for size, b in zip(x.shape[1:], block)]
    split = [part for pair in zip(sizes, block) for part in pair]
    m = len(block)
    axes = [*range(2, 2 * m + 1, 2), 0, *range(1, 2 * m, 2), *range(2 * m + 1, 2 * m + 1 + len(rest))]
    x = x.reshape(n, *split, *rest).permute(axes).contiguous()
    return x.reshape(-1, *sizes, *rest)


def batch_to_space(x, block, margins):
    m, sizes = len(block), x.shape[1:1 + len(block)]
    rest = x.shape[1 + m:]
    axes = [m, *(axis for k in range(m) for axis in (m + 1 + k, k)), *range(2 * m + 1, 2 * m + 1 + len(rest))]
    x = x.reshape(*block, -1, *sizes, *rest).permute(axes)
    x = x.reshape(x.shape[0], *(size * b for size, b in zip(sizes, block)), *rest)
    for axis, (before, after) in enumerate(margins, 1):
        x = x.narrow(axis, before, x.shape[axis] - before - after)
    return x.contiguous()


MOVES = {"space_to_batch": space_to_batch, "batch_to_space": batch_to_space}


def caller(case):
    """A function that makes one call and returns its results."""
    inputs = [tensor_of(case, number) for number in case.library.inputs]
    if case.library.op in MOVES:
        block, margins = numbers(case, "block_shape"), pairs(case)
        return lambda: (MOVES[case.library.op](inputs[0], block, margins),)
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
