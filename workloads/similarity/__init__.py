"""Records near a query, counted or fetched, as the harness fetch-by-similarity asks for them."""
