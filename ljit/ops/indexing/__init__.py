"""``a[index]`` and what is like it: elements, views, masks, index arrays, stores, searches."""
