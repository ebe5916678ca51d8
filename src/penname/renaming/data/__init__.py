"""The name dictionary and how it is made."""
