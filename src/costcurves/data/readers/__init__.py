"""Where predictions are kept: files of several formats and tables of databases, read in batches (extra `files`)."""
