"""Methods that keep constraints with multipliers: SHAKE and RATTLE."""
