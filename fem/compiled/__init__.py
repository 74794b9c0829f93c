"""How kernels are declared, compiled, cached, called and spread over threads."""
