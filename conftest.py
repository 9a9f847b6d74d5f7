"""Where the examples of public classes are looked for."""

import doctest

_belongs = doctest.DocTestFinder._from_module


def _from_module(finder, module, thing):
    """Tell whether an object is a module's own: public classes call themselves ``secant.X``."""
    import secant

    if isinstance(thing, type) and thing.__module__ == "secant":
        return f"secant.{secant._HOME_OF[thing.__name__]}" == module.__name__
    return _belongs(finder, module, thing)


doctest.DocTestFinder._from_module = _from_module
