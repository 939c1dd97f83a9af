"""Policy: what the user asks. Columns and their roles, limits, and how a file is read."""

from tclose.policy.columns import Input, Keep, Quasi, Sensitive
from tclose.policy.policy import Policy, check_policy, files_of

__all__ = ["Input", "Keep", "Policy", "Quasi", "Sensitive", "check_policy", "files_of"]
