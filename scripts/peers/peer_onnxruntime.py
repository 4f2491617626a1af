"""ONNX Runtime as a peer: a graph Pad, Reshape, Transpose, Reshape (or Reshape, Transpose, Reshape, Slice), since it
has no op of this kind; its output lies in memory that is bound once."""

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import peer_numpy
from library import numbers, pairs

version = onnxruntime.__version__
TYPES = {"u8": TensorProto.UINT8, "f16": TensorProto.FLOAT16, "f32": TensorProto.FLOAT, "f64": TensorProto.DOUBLE}
threads = 1


def set_threads(count):
    global threads
    threads = count


class Graph:
    """A chain of nodes from x to y."""

    def __init__(self):
        self.nodes, self.constants, self.last = [], [], "x"

    def add(self, op, *lists, **attributes):
        names = []
        for values in lists:
            names.append(f"c{len(self.constants)}")
            self.constants.append(numpy_helper.from_array(numpy.array(values, numpy.int64), names[-1]))
        step = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, [self.last, *names], [step], **attributes))
        self.last = step

    def session(self, dtype, x_dims, y_dims):
        self.nodes[-1].output[0] = "y"
        graph = helper.make_graph(self.nodes, "move", [helper.make_tensor_value_info("x", TYPES[dtype], x_dims)],
                                  [helper.make_tensor_value_info("y", TYPES[dtype], y_dims)], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def space_to_batch(graph, dims, block, margins):
    m, rest = len(block), dims[1 + len(block):]
    sizes = [(size + before + after) // b for size, b, (before, after) in zip(dims[1:], block, margins)]
    if any(map(any, margins)):
        graph.add("Pad", [0, *(before for before, _ in margins), *(0 for _ in rest),
                          0, *(after for _, after in margins), *(0 for _ in rest)])
    graph.add("Reshape", [dims[0], *(part for pair in zip(sizes, block) for part in pair), *rest])
    graph.add("Transpose", perm=[*range(2, 2 * m + 1, 2), 0, *range(1, 2 * m, 2),
                                 *range(2 * m + 1, 2 * m + 1 + len(rest))])
    graph.add("Reshape", [-1, *sizes, *rest])


def batch_to_space(graph, dims, block, margins):
    m, sizes, rest = len(block), dims[1:1 + len(block)], dims[1 + len(block):]
    graph.add("Reshape", [*block, -1, *sizes, *rest])
    graph.add("Transpose", perm=[m, *(axis for k in range(m) for axis in (m + 1 + k, k)),
                                 *range(2 * m + 1, 2 * m + 1 + len(rest))])
    whole = [size * b for size, b in zip(sizes, block)]
    graph.add("Reshape", [-1, *whole, *rest])
    if any(map(any, margins)):
        graph.add("Slice", [before for before, _ in margins],
                  [size - after for size, (_, after) in zip(whole, margins)], list(range(1, 1 + m)))


def bound_call(case):
    x, y = peer_numpy.array_of(case, 0), case.operand(1)
    y = numpy.empty(list(y.dims)[:y.rank], x.dtype)
    graph = Graph()
    build = space_to_batch if case.library.op == "space_to_batch" else batch_to_space
    build(graph, list(x.shape), numbers(case, "block_shape"), pairs(case))
    session = graph.session(case.dtype, x.shape, y.shape)
    binding = session.io_binding()
    for bind, name, array in (binding.bind_input, "x", x), (binding.bind_output, "y", y):
        bind(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
    return lambda: session.run_with_iobinding(binding), y


def caller(case):
    """A function that makes one call."""
    call, y = bound_call(case)
    return lambda _y=y: call()


def result(case):
    call, y = bound_call(case)
    call()
    return peer_numpy.addresses(case, [y])
