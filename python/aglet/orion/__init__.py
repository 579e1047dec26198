"""A backend for the compiler Orion: a class with the calls that Orion makes of its `LattigoLibrary`.

`library` has the scheme, the keys and the bootstrap, `arithmetic` the calls on ciphertexts, `transforms` the linear
transforms, `polynomials` those of activations, `handles` the whole numbers by which Orion names all of them. Orion is
at https://github.com/baahl-nyu/orion; the calls are those of `orion/backend` there, of November 2025.
"""

from aglet.orion.library import AgletLibrary

__all__ = ["AgletLibrary"]
