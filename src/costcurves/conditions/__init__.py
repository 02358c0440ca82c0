"""What errors cost and how frequent the classes are: operating conditions, ranges, cost matrices, scenario files."""
