"""Other views of an array's memory."""
