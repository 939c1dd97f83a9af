"""Attacks on a release, each in its file: what an attacker knows, and how often they are right."""
