"""The fuzz campaign: random releases, damaged files and forged certificates, judged by code that shares nothing with tclose."""

import os

for _threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):  # a parent that forks has no threads of its own
    os.environ.setdefault(_threads, "1")
