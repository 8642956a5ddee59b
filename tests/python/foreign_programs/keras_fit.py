# SPDX-License-Identifier: Apache-2.0
"""Keras' model.fit below its TensorBoard callback, which profiles batches 4 to 11. keras_fit.py LOGDIR TRUTH.json"""

import json
import sys
import time

import numpy
import tensorflow as tf


class Clock(tf.keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.begun, self.times = 0, {}

    def on_train_batch_begin(self, batch, logs=None):
        self.begun = time.perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        float(logs["loss"])
        self.times[batch + 1] = time.perf_counter() - self.begun


def main():
    logdir, truth = sys.argv[1:]
    model = tf.keras.Sequential([tf.keras.layers.Dense(512, activation="tanh"), tf.keras.layers.Dense(512)])
    model.compile(optimizer="sgd", loss="mse")
    data, clock = numpy.ones((256 * 16, 512), "float32"), Clock()
    board = tf.keras.callbacks.TensorBoard(logdir, profile_batch=(4, 11))
    model.fit(data, data, batch_size=256, epochs=1, verbose=0, callbacks=[clock, board])
    with open(truth, "w", encoding="utf-8") as file:
        json.dump({"step_s": [clock.times[batch] for batch in range(4, 12)]}, file)


main()
