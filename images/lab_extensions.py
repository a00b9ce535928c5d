"""Extensions of the home's packages: data for the browser, which may be anything."""
import glob
import itertools
import json
import os
import pathlib
import stat

LARGEST_PACKAGE_JSON = 1_000_000


def is_readable_extension(package):
    """Whether an extension's package.json is a valid regular file: an invalid one breaks the whole page."""
    try:
        for path in (package, os.path.join(os.path.dirname(package), "install.json")):
            entry = os.stat(path) if path == package or os.path.lexists(path) else None
            if entry is None:
                continue
            if not stat.S_ISREG(entry.st_mode) or entry.st_size > LARGEST_PACKAGE_JSON:
                return False
            content = json.loads(pathlib.Path(path).read_text("utf-8"))
            if path == package and not is_extension(content):
                return False
    except (OSError, ValueError, RecursionError):
        return False
    return True


def is_extension(content):
    texts = isinstance(content, dict) and all(isinstance(content.get(key), str) for key in ("name", "version"))
    build = texts and isinstance(content.get("jupyterlab"), dict) and content["jupyterlab"].get("_build")
    return isinstance(build, dict) and isinstance(build.get("load"), str)


def read_extensions_with_care():
    """Extensions of the home's packages are data for the browser. Searches only the folders of extensions, without
    following symlinks further, and skips invalid ones.
    """
    import jupyterlab_server.app
    import jupyterlab_server.config

    jupyterlab_server.config.iglob = lambda pattern: filter(is_readable_extension, glob.iglob(pattern))
    jupyterlab_server.app.glob = lambda pattern, recursive: list(
        itertools.chain.from_iterable(glob.iglob(pattern.replace("**", depth)) for depth in ("[!@]*", "@*/*"))
    )
