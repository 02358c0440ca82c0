"""The sources of predictions: arrays, dataframes, files, databases, clusters and cross-validation."""
