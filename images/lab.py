"""Starts JupyterLab for one run, with the same settings on every kind of host, and with an untrusted home.

Runs with the runtime's own Python; the arguments have the address. Until JupyterLab serves, no configuration is read and no
program is run from the home (G105): PATH gets the home's folders after the start. With WITHOUT_SETTINGS=1 the home is used
for files only (G106).
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
RUN_FOLDER = pathlib.Path(os.environ["JUPYTER_RUNTIME_DIR"])
WITHOUT_SETTINGS = os.environ.pop("WITHOUT_SETTINGS", "") == "1"
# Packages, settings and layouts: in the home, or of this run only.
OWN = RUN_FOLDER / "python" if WITHOUT_SETTINGS else HOME / ".local" / "python"
LAB = RUN_FOLDER / "lab" if WITHOUT_SETTINGS else HOME / ".jupyter" / "lab"

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
    # Only the page reads and writes them.
    f"--LabApp.user_settings_dir={LAB / 'user-settings'}",
    f"--LabApp.workspaces_dir={LAB / 'workspaces'}",
    f"--LabApp.extra_labextensions_path={OWN}/share/jupyter/labextensions",
]

PIP = '#!/bin/sh\nexec "$(dirname "$0")/python" -m pip "$@"\n'
LARGEST_PACKAGE_JSON = 1_000_000


def terminal():
    """No login shell (-l is the default), because the system's profile would reset PATH and hide the home's Python. An
    interactive shell reads ~/.bashrc.
    """
    shell = shutil.which("bash") or "/bin/sh"
    return [shell, "--norc"] if WITHOUT_SETTINGS and shell.endswith("bash") else [shell]


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


def make_home():
    """Creates a Python environment in the home without `python -m venv`, which takes seconds. The owner's packages come
    before the runtime's, `pip install` writes here, and kernels and terminals use it. It survives stop and start.
    """
    name = "python%d.%d" % sys.version_info[:2]
    packages = OWN / "lib" / name / "site-packages"
    top = RUN_FOLDER if WITHOUT_SETTINGS else HOME
    for path in [top, *reversed([each for each in packages.parents if top in each.parents]), packages, OWN / "bin"]:
        ensure_folder(path)
    base = os.path.dirname(os.path.realpath(sys.executable))
    version = "%d.%d.%d" % sys.version_info[:3]
    ensure_file(OWN / "pyvenv.cfg", f"home = {base}\ninclude-system-site-packages = false\nversion = {version}\n")
    ensure_file(packages / "_runtime.pth", f"{sys.prefix}/lib/{name}/site-packages\n")
    # The owner may have replaced them. A symlink to another runtime is from an earlier start of ours.
    for link in (OWN / "bin" / each for each in ("python", "python3", name)):
        target = os.readlink(link) if link.is_symlink() else ""
        is_older = target.endswith("/bin/python") and target != sys.executable and HOME not in pathlib.Path(target).parents
        if is_older or not link.is_file():
            replace(link, lambda draft: draft.symlink_to(sys.executable))
    for script in ("pip", "pip3"):
        if not (OWN / "bin" / script).is_file():
            ensure_file(OWN / "bin" / script, PIP, 0o755)


def variables():
    """Environment variables for kernels and terminals, but not for JupyterLab itself."""
    programs = [OWN / "bin", *([] if WITHOUT_SETTINGS else [HOME / ".local" / "bin"])]
    return {
        "PATH": ":".join([*map(str, programs), os.environ["PATH"]]),
        "VIRTUAL_ENV": str(OWN),
        "VIRTUAL_ENV_DISABLE_PROMPT": "1",
        "JUPYTER_PATH": f"{OWN}/share/jupyter",
        **({"IPYTHONDIR": str(RUN_FOLDER / "ipython")} if WITHOUT_SETTINGS else {}),
    }


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


def ignore_configuration_of_the_home():
    """Sets an empty folder of this run as Jupyter's configuration folder, for the server only: its child processes use the
    home's.
    """
    import jupyter_core.paths

    empty = RUN_FOLDER / "config"
    empty.mkdir(mode=0o500, parents=True, exist_ok=True)
    jupyter_core.paths.jupyter_config_dir = lambda: str(empty)
    # Imported after the patch, because modules copy the function at import.
    from jupyter_core.application import JupyterApp

    # The migration would copy files of IPython 3 from ~/.ipython.
    JupyterApp.migrate_config = lambda self: None


def listen_on_descriptor():
    """Makes `--ServerApp.sock=/dev/fd/N` name a bound socket that this process inherited, instead of a path."""
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
    """Starts in 0.9 s instead of 3.6 s (two shared cores) by skipping two costs: rfc3987_syntax compiles a grammar for
    1.5 s at import, and jsonschema works without it (IRI formats go unchecked); Node is run to read yarn settings for
    building extensions, which a read-only runtime never does. Removes the run's token from the page (G95).
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
        # Kernels of the home's packages come last: the one of `pip install ipykernel` would use the server's Python
        # instead of the home's.
        own_kernels = [f"{OWN}/share/jupyter/kernels", f"{HOME}/.ipython/kernels"]
        self.kernel_spec_manager.kernel_dirs = [*jupyter_path("kernels"), *own_kernels]
        os.environ.update(variables())
        start_app(self)

    LabApp.initialize_handlers, ServerApp.start_app = without_token, with_the_home
    listen_on_descriptor()
    sys.argv = ["jupyter-lab", *SETTINGS, f"--ServerApp.terminado_settings={{'shell_command': {terminal()}}}", *sys.argv[1:]]
    main()


if WITHOUT_SETTINGS:
    os.environ["JUPYTER_DATA_DIR"] = str(RUN_FOLDER / "data")
try:
    ensure_folder(HOME)
    os.chdir(HOME)
    make_home()
except OSError as problem:
    # JupyterLab must start with a full home too, so that its owner can delete files.
    print(f"The home's Python environment could not be made: {problem}", file=sys.stderr)
ignore_configuration_of_the_home()
read_extensions_with_care()
start_lab()
