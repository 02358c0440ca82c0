"""The paper of 2008."""
