"""Scales: what the codes of a quasi-identifier stand for, how classes of them are published, and what that loses."""

from tclose.scales.base import Column, Published, Scale, Widths
from tclose.scales.line import Line
from tclose.scales.nominal import Nominal
from tclose.scales.tree import Tree, unknown

__all__ = ["Column", "Line", "Nominal", "Published", "Scale", "Tree", "Widths", "unknown"]
