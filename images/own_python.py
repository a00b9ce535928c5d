"""The home's Python environment, made before JupyterLab starts. What lies there is its owner's, and untrusted: nothing of it is
run, followed or read without a look at what it is (G105).
"""
import os
import pathlib
import stat
import sys
import tempfile

PIP = '#!/bin/sh\nexec "$(dirname "$0")/python" -m pip "$@"\n'


def ensure_folder(path):
    """Creates a readable and writable folder below an existing one."""
    if os.path.lexists(path) and not path.is_dir():
        move_into_subfolder(path)
    path.mkdir(exist_ok=True)
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        path.chmod(0o700)


def move_into_subfolder(path):
    """Moves the entry into a new folder beside it, so that the owner loses nothing."""
    path.rename(pathlib.Path(tempfile.mkdtemp(prefix=path.name + ".", dir=path.parent), path.name))


def replace(path, make):
    """Replaces any entry atomically by the result of `make`: on a full disk the old one stays."""
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".new-") as drafts:
        draft = pathlib.Path(drafts) / path.name
        make(draft)
        if path.is_dir() and not path.is_symlink():
            move_into_subfolder(path)
        draft.replace(path)


def ensure_file(path, content, mode=0o644):
    """Writes a file with this content. An existing entry is read only if it is a regular file of this length: reading a
    FIFO blocks, and a symlink may lead to an endless file.
    """
    def make(draft):
        draft.write_text(content)
        draft.chmod(mode)

    try:
        entry = path.lstat()
        if stat.S_ISREG(entry.st_mode) and entry.st_size == len(content) and path.read_text() == content:
            return
    except OSError:
        pass
    replace(path, make)


def make_home(run):
    """Creates a Python environment in the home without `python -m venv`, which takes seconds. The owner's packages come
    before the runtime's, `pip install` writes here, and kernels and terminals use it. It survives stop and start.
    """
    name = "python%d.%d" % sys.version_info[:2]
    packages = run.own / "lib" / name / "site-packages"
    top = run.folder if run.without_settings else run.home
    for path in [top, *reversed([each for each in packages.parents if top in each.parents]), packages, run.own / "bin"]:
        ensure_folder(path)
    base = os.path.dirname(os.path.realpath(sys.executable))
    version = "%d.%d.%d" % sys.version_info[:3]
    ensure_file(run.own / "pyvenv.cfg", f"home = {base}\ninclude-system-site-packages = false\nversion = {version}\n")
    ensure_file(packages / "_runtime.pth", f"{sys.prefix}/lib/{name}/site-packages\n")
    # The owner may have replaced them. A symlink to another runtime is from an earlier start of ours.
    for link in (run.own / "bin" / each for each in ("python", "python3", name)):
        target = os.readlink(link) if link.is_symlink() else ""
        is_ours = target.endswith("/bin/python") and run.home not in pathlib.Path(target).parents
        is_older = is_ours and target != sys.executable
        if is_older or not link.is_file():
            replace(link, lambda draft: draft.symlink_to(sys.executable))
    for script in ("pip", "pip3"):
        if not (run.own / "bin" / script).is_file():
            ensure_file(run.own / "bin" / script, PIP, 0o755)
