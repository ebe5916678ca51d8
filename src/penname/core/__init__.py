"""Plain values, configuration, errors, manifests and hashes, the counter RNG, progress."""
