"""Where a voice is used: binding check, merge, export, and write. Importing this room imports nothing heavy."""
