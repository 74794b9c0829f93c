"""Motions as time series of frames: written while a run goes on, read by ParaView and by `read_series`."""
