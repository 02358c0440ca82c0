"""Where predictions come from: arrays, dataframes, files, databases, clusters and cross-validation."""
