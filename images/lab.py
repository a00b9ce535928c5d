"""Starts JupyterLab for one run: on every kind of host the same settings, and a home that may hold anything.

Runs with the runtime's own Python. What differs per host (address) comes as arguments. Until JupyterLab answers, nothing
of the home is read as configuration and no program of the home is run (G105): not even by a name on PATH, which gets the
home's folders only after the start. With WITHOUT_SETTINGS=1 a home is a folder of files and nothing else (G106).
"""
import glob
import itertools
import json
import os
import pathlib
import shutil
import socket
import stat
import sys
import tempfile

HOME = pathlib.Path(os.environ["HOME"])
SCRATCH = pathlib.Path(os.environ["JUPYTER_RUNTIME_DIR"])
WITHOUT_SETTINGS = os.environ.pop("WITHOUT_SETTINGS", "") == "1"
# Where packages, settings and layouts are: kept through stop and start, or of this run only.
OWN = SCRATCH / "python" if WITHOUT_SETTINGS else HOME / ".local" / "python"
LAB = SCRATCH / "lab" if WITHOUT_SETTINGS else HOME / ".jupyter" / "lab"

SETTINGS = [
    "--no-browser",
    # Behind the gateway the Host header is the subdomain, which JupyterLab otherwise refuses (403).
    "--ServerApp.allow_remote_access=True",
    "--ServerApp.base_url=/",
    "--ServerApp.quit_button=False",
    f"--ServerApp.root_dir={HOME}",
    "--ServerApp.terminals_enabled=True",
    # No language servers come with the runtime, and the shim is for the classic notebook.
    '--ServerApp.jpserver_extensions={"jupyter_lsp": False, "notebook_shim": False}',
    "--LabApp.extension_manager=readonly",
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    # The page reads and writes them, and nothing before it does.
    f"--LabApp.user_settings_dir={LAB / 'user-settings'}",
    f"--LabApp.workspaces_dir={LAB / 'workspaces'}",
    f"--LabApp.extra_labextensions_path={OWN}/share/jupyter/labextensions",
]

PIP = '#!/bin/sh\nexec "$(dirname "$0")/python" -m pip "$@"\n'
LARGEST_PACKAGE_JSON = 1_000_000


def terminal():
    """Without the -l that a terminal would otherwise get: a login shell reads the system's profile, which sets PATH anew
    and so hides the home's Python. An interactive one reads ~/.bashrc.
    """
    shell = shutil.which("bash") or "/bin/sh"
    return [shell, "--norc"] if WITHOUT_SETTINGS and shell.endswith("bash") else [shell]


def folder(path):
    """Makes a folder that can be used, below a folder that can."""
    if os.path.lexists(path) and not path.is_dir():
        put_aside(path)
    path.mkdir(exist_ok=True)
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        path.chmod(0o700)


def put_aside(path):
    """Into a folder beside it: it may be all that its owner has."""
    path.rename(pathlib.Path(tempfile.mkdtemp(prefix=path.name + ".", dir=path.parent), path.name))


def place(path, make):
    """Puts what `make` makes at a name where anything may be, whole or not at all: a full disk keeps what was there."""
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".new-") as drafts:
        draft = pathlib.Path(drafts) / path.name
        make(draft)
        if path.is_dir() and not path.is_symlink():
            put_aside(path)
        draft.replace(path)


def keep(path, content, mode=0o644):
    """A file with this content. Opened only if it is one and as long: a FIFO keeps its reader waiting, a link may lead
    to what never ends.
    """
    def make(draft):
        draft.write_text(content)
        draft.chmod(mode)

    try:
        found = path.lstat()
        if stat.S_ISREG(found.st_mode) and found.st_size == len(content) and path.read_text() == content:
            return
    except OSError:
        pass
    place(path, make)


def make_home():
    """The home's own Python environment, by hand (`python -m venv` takes seconds): the runtime's packages are visible
    below the owner's, `pip install` writes here, and kernels and terminals use it. Kept through stop and start.
    """
    name = "python%d.%d" % sys.version_info[:2]
    packages = OWN / "lib" / name / "site-packages"
    top = SCRATCH if WITHOUT_SETTINGS else HOME
    for path in [top, *reversed([each for each in packages.parents if top in each.parents]), packages, OWN / "bin"]:
        folder(path)
    base = os.path.dirname(os.path.realpath(sys.executable))
    version = "%d.%d.%d" % sys.version_info[:3]
    keep(OWN / "pyvenv.cfg", f"home = {base}\ninclude-system-site-packages = false\nversion = {version}\n")
    keep(packages / "_runtime.pth", f"{sys.prefix}/lib/{name}/site-packages\n")
    # The owner may have put others in their places: of links, one to a runtime that was before is ours.
    for link in (OWN / "bin" / each for each in ("python", "python3", name)):
        target = os.readlink(link) if link.is_symlink() else ""
        is_older = target.endswith("/bin/python") and target != sys.executable and HOME not in pathlib.Path(target).parents
        if is_older or not link.is_file():
            place(link, lambda draft: draft.symlink_to(sys.executable))
    for script in ("pip", "pip3"):
        if not (OWN / "bin" / script).is_file():
            keep(OWN / "bin" / script, PIP, 0o755)


def variables():
    """What kernels and terminals see more than JupyterLab itself."""
    programs = [OWN / "bin", *([] if WITHOUT_SETTINGS else [HOME / ".local" / "bin"])]
    return {
        "PATH": ":".join([*map(str, programs), os.environ["PATH"]]),
        "VIRTUAL_ENV": str(OWN),
        "VIRTUAL_ENV_DISABLE_PROMPT": "1",
        "JUPYTER_PATH": f"{OWN}/share/jupyter",
        **({"IPYTHONDIR": str(SCRATCH / "ipython")} if WITHOUT_SETTINGS else {}),
    }


def is_sound(package):
    """Whether an extension's package.json can be read at once and is one: otherwise the page could not be shown at all."""
    try:
        for path in (package, os.path.join(os.path.dirname(package), "install.json")):
            found = os.stat(path) if path == package or os.path.lexists(path) else None
            if found is None:
                continue
            if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_PACKAGE_JSON:
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
    """Extensions of the home's packages are data for the browser. Looked for where they are, not in all that lies below
    or behind a link, and only those that can be read.
    """
    import jupyterlab_server.app
    import jupyterlab_server.config

    jupyterlab_server.config.iglob = lambda pattern: filter(is_sound, glob.iglob(pattern))
    jupyterlab_server.app.glob = lambda pattern, recursive: list(
        itertools.chain.from_iterable(glob.iglob(pattern.replace("**", depth)) for depth in ("[!@]*", "@*/*"))
    )


def leave_configuration_in_the_home():
    """Jupyter's own place for it is an empty folder of this run. Only for the server: programs that are started from it
    find theirs.
    """
    import jupyter_core.paths

    empty = SCRATCH / "config"
    empty.mkdir(mode=0o500, parents=True, exist_ok=True)
    jupyter_core.paths.jupyter_config_dir = lambda: str(empty)
    # Only now, since all that reads configuration takes the function from there when it is imported.
    from jupyter_core.application import JupyterApp

    # Would copy what IPython 3 left in ~/.ipython.
    JupyterApp.migrate_config = lambda self: None


def listen_on_descriptor():
    """`--ServerApp.sock=/dev/fd/N` names a bound socket that the start was given, in place of a path."""
    from jupyter_server.serverapp import ServerApp

    def bind(self):
        listener = socket.socket(fileno=int(self.sock.rpartition("/")[2]))
        listener.set_inheritable(False)
        listener.setblocking(False)
        listener.listen(1024)
        self.http_server.add_socket(listener)
        return True

    ServerApp._bind_http_server_unix = bind


def start_lab():
    """Without two costs of the start-up, which together take 3.6 s to 0.9 s (two shared cores): rfc3987_syntax compiles
    a grammar of 1.5 s while it is imported, and jsonschema does without it (IRI formats go unchecked); the yarn settings
    are asked from Node for building extensions, which a read-only runtime never does. And keeps the run's token out of
    the page, which the gateway shows for the owner: it never leaves the server (G95).
    """
    sys.modules["rfc3987_syntax"] = None
    import jupyterlab.commands

    jupyterlab.commands._yarn_config = lambda logger: {"yarn config": {}, "npm config": {}}
    from jupyter_core.paths import jupyter_path
    from jupyter_server.serverapp import ServerApp
    from jupyterlab.labapp import LabApp, main

    initialize_handlers, start_app = LabApp.initialize_handlers, ServerApp.start_app

    def without_token(self):
        initialize_handlers(self)
        self.serverapp.web_app.settings["page_config_data"]["token"] = ""

    def with_the_home(self):
        # Kernels of the home's packages last: `pip install ipykernel` brings one that would be run with the server's own
        # Python in the place of the home's.
        own_kernels = [f"{OWN}/share/jupyter/kernels", f"{HOME}/.ipython/kernels"]
        self.kernel_spec_manager.kernel_dirs = [*jupyter_path("kernels"), *own_kernels]
        os.environ.update(variables())
        start_app(self)

    LabApp.initialize_handlers, ServerApp.start_app = without_token, with_the_home
    listen_on_descriptor()
    sys.argv = ["jupyter-lab", *SETTINGS, f"--ServerApp.terminado_settings={{'shell_command': {terminal()}}}", *sys.argv[1:]]
    main()


if WITHOUT_SETTINGS:
    os.environ["JUPYTER_DATA_DIR"] = str(SCRATCH / "data")
try:
    folder(HOME)
    os.chdir(HOME)
    make_home()
except OSError as problem:
    # A full home must still open: deleting files is what its owner came for.
    print(f"The home's Python environment could not be made: {problem}", file=sys.stderr)
leave_configuration_in_the_home()
read_extensions_with_care()
start_lab()
