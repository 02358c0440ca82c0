"""The paper of 2000."""
