"""Pages: ``penname review``, on which a person decides names, and ``report.html``, which shows what came out."""
