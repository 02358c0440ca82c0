"""From labels and scores to counts: keys of scores, ROC counts, hull vertices without sorting, confusion matrices."""
