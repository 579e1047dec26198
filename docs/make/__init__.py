"""Pages, tables and pictures that follow from code and records."""
