"""The voice folder as a whole: which stage needs what, what is stale, run in order; new, check, doctor and the demo."""
