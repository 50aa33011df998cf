"""Layers of image networks in plain float64 NumPy, for one image, from the values of a state dict."""

import math

import numpy as np


def convolution(x, weight, bias=None, stride=1, padding=0):
    """(c, h, w) -> (o, h', w'), entry by entry of the kernel."""
    x = np.pad(x, ((0, 0), (padding, padding), (padding, padding)))
    out, _, tall, wide = weight.shape
    rows = (x.shape[1] - tall) // stride + 1
    columns = (x.shape[2] - wide) // stride + 1
    y = np.zeros((out, rows, columns))
    for r in range(rows):
        for c in range(columns):
            patch = x[:, r * stride : r * stride + tall, c * stride : c * stride + wide]
            y[:, r, c] = np.tensordot(weight, patch, 3)
    return y if bias is None else y + bias[:, None, None]


def transposed_convolution(x, weight, bias, stride=1, padding=0):
    """(c, h, w) -> (o, h', w'): every input entry stamps the kernel, and the border is cut off."""
    _, out, tall, wide = weight.shape
    y = np.zeros((out, (x.shape[1] - 1) * stride + tall, (x.shape[2] - 1) * stride + wide))
    for r in range(x.shape[1]):
        for c in range(x.shape[2]):
            stamp = sum(value * kernel for value, kernel in zip(x[:, r, c], weight, strict=True))
            y[:, r * stride : r * stride + tall, c * stride : c * stride + wide] += stamp
    return y[:, padding : y.shape[1] - padding, padding : y.shape[2] - padding] + bias[:, None, None]


def largest(x, kernel=3, stride=2, padding=1):
    x = np.pad(x, ((0, 0), (padding, padding), (padding, padding)), constant_values=-np.inf)
    rows = (x.shape[1] - kernel) // stride + 1
    columns = (x.shape[2] - kernel) // stride + 1
    y = np.zeros((len(x), rows, columns))
    for r in range(rows):
        for c in range(columns):
            y[:, r, c] = x[:, r * stride : r * stride + kernel, c * stride : c * stride + kernel].max((1, 2))
    return y


def batch_norm(state, name, x):
    """By running statistics; over the first axis of `x`."""
    column = (-1, *[1] * (x.ndim - 1))
    mean, variance = (state[f"{name}.running_{kind}"].reshape(column) for kind in ("mean", "var"))
    weight, bias = (state[f"{name}.{kind}"].reshape(column) for kind in ("weight", "bias"))
    return (x - mean) / np.sqrt(variance + 1e-5) * weight + bias


def group_norm(state, name, x):
    """Sixteen channels at a time, or all if they are fewer, by the mean and variance of this image."""
    groups = [(g - g.mean()) / np.sqrt(g.var() + 1e-5) for g in np.split(x, max(1, len(x) // 16))]
    return np.concatenate(groups) * state[f"{name}.weight"][:, None, None] + state[f"{name}.bias"][:, None, None]


def layer_norm(state, name, x):
    """Each row of `x` by itself."""
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5) * state[f"{name}.weight"] + state[f"{name}.bias"]


def linear(state, name, x):
    return x @ state[f"{name}.weight"].T + state[f"{name}.bias"]


def gelu(x):
    return np.vectorize(lambda v: v * 0.5 * (1 + math.erf(v / math.sqrt(2))))(x)


def relu(x):
    return np.where(x > 0, x, 0.0)
