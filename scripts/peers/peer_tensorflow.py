"""TensorFlow as a peer: its kernels SpaceToBatchND and BatchToSpaceND, called eagerly on its own copies of the
inputs."""

import tensorflow as tf

import peer_numpy
from library import numbers, pairs

version = tf.__version__


def set_threads(count):
    """Once, before the first op."""
    tf.config.threading.set_intra_op_parallelism_threads(count)
    tf.config.threading.set_inter_op_parallelism_threads(1)


def caller(case):
    """A function that makes one call and returns its results."""
    x = tf.convert_to_tensor(peer_numpy.array_of(case, 0))
    block, margins = tf.constant(numbers(case, "block_shape")), tf.constant(pairs(case))
    move = tf.raw_ops.SpaceToBatchND if case.library.op == "space_to_batch" else tf.raw_ops.BatchToSpaceND
    margin_name = "paddings" if case.library.op == "space_to_batch" else "crops"
    return lambda: (move(input=x, block_shape=block, **{margin_name: margins}),)


def result(case):
    return peer_numpy.addresses(case, [tensor.numpy() for tensor in caller(case)()])
