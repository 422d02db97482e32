"""Loop nests made of elementwise ops: the steps of `fuse` and `fuse_rows`."""
