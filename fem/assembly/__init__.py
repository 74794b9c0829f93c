"""Forms that are assembled: their patterns, and the rows of calls that fill them."""
