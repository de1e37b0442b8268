"""Everything on one machine: an emulator of AWS in a child process, its resources, the services beside it."""
