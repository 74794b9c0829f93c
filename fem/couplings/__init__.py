"""What couples nodes: interpolation, ties, equations, and groups that are rigid."""
