"""The paper of 2005."""
