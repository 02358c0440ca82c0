"""Basics that every other package uses: errors, validation, results, dataframes, files, text and progress."""
