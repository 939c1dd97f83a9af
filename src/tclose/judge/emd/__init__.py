"""The earth mover's distance of the judge, by the shape of the ground distance."""
