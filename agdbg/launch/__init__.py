"""Running a program as ``python`` would, accompanied by a recording."""
