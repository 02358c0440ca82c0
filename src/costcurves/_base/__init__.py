"""What every other package uses: errors, checks, results, dataframes, files, text and progress."""
