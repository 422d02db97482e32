"""Records: frozen data whose class costs nothing to make.

`dataclass` compiles the methods of each class when it is made, a quarter of a millisecond a class: most of what the
import of the compiler cost, in the first call of a function. The subclasses of `Record` share their methods.
Where many instances are made, or have to compare, a dataclass is the better one.
"""

from __future__ import annotations

from typing import ClassVar, NoReturn, dataclass_transform

__all__ = ["Record"]


@dataclass_transform(frozen_default=True, eq_default=False)
class Record:
    """Like a frozen dataclass that compares by identity: annotations name the fields, values are defaults.

    A default is one object for all instances, so it has to be immutable.
    """

    #: names of the fields -> their annotations
    fields_of_record: ClassVar[dict[str, str]] = {}

    def __init_subclass__(cls) -> None:
        own = {k: v for k, v in cls.__annotations__.items() if not v.startswith("ClassVar")}
        cls.fields_of_record = {**cls.fields_of_record, **own}

    def __init__(self, *values: object, **named: object) -> None:
        fields = self.fields_of_record
        if len(values) == len(fields) and not named:
            self.__dict__.update(zip(fields, values, strict=True))
            return
        given = dict(zip(fields, values, strict=False))
        if len(given) == len(values) and given.keys().isdisjoint(named):
            given |= named
            missing = fields.keys() - given.keys()
            if given.keys() <= fields.keys() and all(hasattr(type(self), k) for k in missing):
                self.__dict__.update(given)
                return
        message = f"{type(self).__name__} has the fields {', '.join(fields)}"
        raise TypeError(message)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        message = f"{type(self).__name__}.{name} cannot be set: records do not change"
        raise AttributeError(message)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.fields_of_record)
        return f"{type(self).__name__}({values})"
