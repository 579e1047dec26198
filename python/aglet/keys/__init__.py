"""The keys of every family in one set: their list, how they are made and forecast, and the folder that keeps them."""
