"""Arrays and lists that become values of their own: who carries them, what is in them."""
