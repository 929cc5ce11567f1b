from .tensor_train import TENSOR_TRAIN as TENSOR_TRAIN

__all__ = [
    "TENSOR_TRAIN",
]
