"""The thin part of the debugger inside the program: no thread of its own, a stopped thread serves requests itself."""
