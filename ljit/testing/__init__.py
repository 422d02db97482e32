"""Tools that ljit's own tests and users' tests share."""
