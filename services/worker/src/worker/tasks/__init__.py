"""The task kinds: one module each, a plain function of the work and explicit dependencies."""
