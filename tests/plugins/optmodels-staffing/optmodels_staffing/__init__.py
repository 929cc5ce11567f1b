"""A kind of problem from outside: how many servers work in each hour. Its record is in `optmodels_staffing.kind`."""
