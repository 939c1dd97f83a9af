"""Scales: what the codes of a quasi-identifier stand for, how classes are published, and the information loss of that."""

from tclose.make.scales.base import Claims, Column, Published, Scale, Widths
from tclose.make.scales.intervals import IntervalTree
from tclose.make.scales.line import Line
from tclose.make.scales.nominal import Nominal
from tclose.make.scales.tree import Tree, unknown

__all__ = ["Claims", "Column", "IntervalTree", "Line", "Nominal", "Published", "Scale", "Tree", "Widths", "unknown"]
