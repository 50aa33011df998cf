"""The type checker of the test run."""

from beartype import BeartypeConf, beartype

# A whole number is a fine float, as type checkers and users have it.
check = beartype(conf=BeartypeConf(is_pep484_tower=True))
