"""The built-in laws as functions of invariants: generated text, so that they need no SymPy."""
