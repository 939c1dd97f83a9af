"""Why a table breaks a policy, and what would help."""
