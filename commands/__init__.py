"""The commands of the command line: each module declares the arguments of one and does what it is for."""
