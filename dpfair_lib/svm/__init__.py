"""Support vectors and what is done to a trained classifier after training: the methods of SK and its baseline."""
