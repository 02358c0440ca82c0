"""Before the data are there: how many examples, how likely a difference is found, how often an interval holds."""
