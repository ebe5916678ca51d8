"""``python -m penname``."""

from penname.cli.app import main

if __name__ == "__main__":
    main()
