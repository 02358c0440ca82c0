"""The paper of 1997."""
