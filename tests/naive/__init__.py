"""Slow, obvious twins of what tclose computes: plain lists, plain loops, fractions. Nothing here comes from tclose.

The measures are names of this package: ``naive.emd_ordered``. The twins of one algorithm or one reader have a module: ``naive.growth.refine``.
"""

from tests.naive import builders as builders
from tests.naive import csv_scan as csv_scan
from tests.naive import fragments as fragments
from tests.naive import grids as grids
from tests.naive import grow as grow
from tests.naive import growth as growth
from tests.naive import incognito as incognito
from tests.naive import microaggregation as microaggregation
from tests.naive import regions as regions
from tests.naive import sabre as sabre
from tests.naive import several_tables as several_tables
from tests.naive import wang as wang
from tests.naive import widened as widened
from tests.naive.measures import *  # noqa: F403
