"""What ljit did for functions that nobody knew to be worth it, and what was won by that (`waiting.py`)."""

from __future__ import annotations

__all__ = ["Bet"]


class Bet:
    """What ljit did for one function so far that has not been worth it yet; once it was, nothing is a bet any more."""

    __slots__ = ("_is_won", "seconds")
    won = 0.0  # seconds, of all functions, that were worth it
    loading = 0.0  # seconds that it took: the first function that is worth it is worth that, too

    def __init__(self) -> None:
        self.seconds = 0.0
        self._is_won = False

    def add(self, seconds: float) -> float:
        """Count what ljit did for the function."""
        if self._is_won:
            Bet.won += seconds
        else:
            self.seconds += seconds
        return seconds

    def win(self) -> None:
        """Note that the function has run as long as that took; bets that are likely to pay go on."""
        Bet.won += self.seconds + Bet.loading
        self.seconds = Bet.loading = 0.0
        self._is_won = True
