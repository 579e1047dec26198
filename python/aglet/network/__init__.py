"""Convolutional networks on ciphertexts: `ml.Network`, its layers, their packing, and where bootstraps stand."""
