"""New arrays: of a shape, of objects, of counted numbers, of patterns, of parts of others."""
