"""Readers of frames that are not in memory: streams of this process, Dask's partitions, Spark's partitions."""
