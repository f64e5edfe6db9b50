"""Examples are run from this text.

>>> double(4)
8
>>> double("ab")
'abab'
>>> double(None)
Traceback (most recent call last):
TypeError: unsupported operand type(s) for *: 'NoneType' and 'int'
"""
import doctest


def double(x):
    """
    >>> double(1)
    3
    """
    return x * 2


print(doctest.testmod())
