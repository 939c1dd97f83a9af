"""Releases on Spark and on one machine, in one run: python bench/spark.py [--rows N] [--kinds mix,blur] [--masters local[1],local[2],one].

The tables are made from Adult (../shared/data or TCLOSE_DATA) by the recipes mix and blur: see bench/growth.py. Each release is made in a process of
its own. Wall time by stage, CPU time of all processes, peak memory of the driver's Python and of each executor's, loss.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from growth import big_table  # type: ignore[import-not-found]

QUASI = ["age", "workclass", "education-num", "marital-status", "race", "sex", "native-country"]
