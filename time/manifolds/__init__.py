"""Systems whose configurations form a manifold: rigid bodies and spherical pendula."""
