"""Long runs and their keeping: launch, sweep, archive, backup check, purge. They run the same commands a person would."""
