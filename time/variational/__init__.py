"""Methods from a discrete variational principle: with forces, of chosen steps, and those of Zhang and Skeel."""
