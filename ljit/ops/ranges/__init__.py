"""What the range analysis is told of ops (`OpDef.ranges`): bounds of ints and floats, checks that may be left out."""
