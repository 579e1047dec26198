"""Checks of the target before the work: nothing may be overwritten, hidden or lost."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import PurePosixPath

from aglet.batch.folders import OWN, Identity, Listing, identity
from aglet.batch.places import Place
from aglet.errors import ParameterError

__all__ = ["refuse_unfit"]


def refuse_unfit(source: Place, target: Place, listing: Listing, keys: Place) -> None:
    """Refuse a target that is the source or below it, or where a result cannot have its name.

    Raises
    ------
    ParameterError
        With the first name that does not fit, and the remedy.
    OSError
        If a folder of this machine cannot be made or read.
    """
    if target.within(source) or (target.local is not None and _stands_in(target.local, listing.folders)):
        raise ParameterError("The results would lie among the ciphertexts; give a folder outside of the source.")
    if not target.whole:
        _refuse_folders_of_names(listing.names)
    if target.local is None:
        _refuse_in_store(source, target, listing)
        return
    if os.path.lexists(target.local) and not os.path.isdir(target.local):
        raise ParameterError(f"{target.url!a} is not a folder, and results need one; give another name.")
    os.makedirs(target.local, exist_ok=True)
    own = {(identity(keys.local), name) for name in os.listdir(keys.local)} if keys.local else set()
    _Folder(target.local, listing.entries | own).refuse([*OWN, *listing.names])


def _stands_in(path: str, folders: set[Identity]) -> bool:
    """Whether a folder, which need not exist, is one of these or below one, by any links and mounts."""
    real = os.path.realpath(path)
    every = [real]
    while (above := os.path.dirname(every[-1])) != every[-1]:
        every.append(above)
    return any(identity(one) in folders for one in every if os.path.exists(one))


def _refuse_folders_of_names(names: Iterable[str]) -> None:
    """Refuse names that are a file and a folder. Stores have no folders: there `a` and `a/b` are both files."""
    every = set(names)
    for name in every:
        for above in PurePosixPath(name).parents:
            if str(above) in every:
                raise ParameterError(
                    f"The source holds both {str(above)!a} and {name!a}, which a folder cannot; rename one of them."
                )


def _refuse_in_store(source: Place, target: Place, listing: Listing) -> None:
    mine = {f"{target.root}/{name}": name for name in listing.names}
    if target.same_kind(source) and (both := sorted(mine.keys() & {f"{source.root}/{n}" for n in listing.names})):
        raise ParameterError(f"The result of {mine[both[0]]!a} would overwrite a ciphertext; give another target.")
    for path in sorted(mine.keys() & target.folder_paths()) if not target.whole else ():
        raise ParameterError(f"The result of {mine[path]!a} would have the name of a folder; give another target.")


class _Folder:
    """An existing folder for results."""

    def __init__(self, root: str, taken: set[tuple[Identity, str]]) -> None:
        self._root, self._taken = root, taken
        self._known: dict[str, Identity | None] = {}
        self._longest = os.pathconf(root, "PC_NAME_MAX") if hasattr(os, "pathconf") else 255

    def refuse(self, names: Iterable[str]) -> None:
        """Check each name."""
        every = list(names)
        for name in every:
            self._refuse(name)
        if self._ignores_case():
            self._refuse_same_but_case(every)

    def _refuse(self, name: str) -> None:
        below, _, last = name.rpartition("/")
        if any(len(os.fsencode(part)) > self._longest for part in name.split("/")):
            raise ParameterError(
                f"The name {name!a} is longer than the {self._longest} bytes that {self._root!a} allows; rename it."
            )
        folder = self._folder(below)
        if folder is None:
            return
        if (folder, last) in self._taken:
            raise ParameterError(
                f"The result of {name!a} would overwrite a ciphertext or a key; give a folder outside of both."
            )
        path = os.path.join(self._root, name)
        try:
            mode = os.lstat(path).st_mode
        except FileNotFoundError:
            return
        if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
            raise ParameterError(
                f"{path!a} is not a file, and a result or list of this batch needs its name; move it, or give "
                "another folder."
            )

    def _folder(self, below: str) -> Identity | None:
        """The folder of a result; None if it has to be made."""
        if below not in self._known:
            if below and self._folder(below.rpartition("/")[0]) is None:
                self._known[below] = None
            else:
                path = os.path.join(self._root, below)
                if os.path.lexists(path) and not os.path.isdir(path):
                    raise ParameterError(
                        f"{path!a} is not a folder, and results need one of that name; move it, or give another folder."
                    )
                self._known[below] = identity(path) if os.path.isdir(path) else None
        return self._known[below]

    def _ignores_case(self) -> bool:
        """Whether the folder treats names that differ in case as one. Its own name is looked up, if it has letters."""
        folder, name = os.path.split(os.path.realpath(self._root))
        other = os.path.join(folder, name.swapcase())
        return name != name.swapcase() and os.path.exists(other) and os.path.samefile(other, self._root)

    def _refuse_same_but_case(self, names: list[str]) -> None:
        seen: dict[str, str] = {}
        for name in names:
            other = seen.setdefault(name.casefold(), name)
            if other != name:
                raise ParameterError(f"{other!a} and {name!a} are the same name in {self._root!a}; rename one of them.")
