"""Starts JupyterLab for one run: on every kind of host the same settings, and a home that may still be empty.

Runs with the runtime's own Python. What differs per host (address, root folder) comes as arguments.
"""
import os
import pathlib
import socket
import sys

SETTINGS = [
    "--no-browser",
    # Behind the gateway the Host header is the subdomain, which JupyterLab otherwise refuses (403).
    "--ServerApp.allow_remote_access=True",
    "--ServerApp.base_url=/",
    "--ServerApp.quit_button=False",
    "--ServerApp.terminals_enabled=True",
    # No language servers come with the runtime, and the shim is for the classic notebook.
    '--ServerApp.jpserver_extensions={"jupyter_lsp": False, "notebook_shim": False}',
    "--LabApp.extension_manager=readonly",
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
]

PIP = '#!/bin/sh\nexec "$(dirname "$0")/python" -m pip "$@"\n'


def keep(path, content):
    """Written only where it differs: writing empties the file first, and a full disk may then keep it so."""
    if not path.exists() or path.read_text() != content:
        path.write_text(content)


def make_home(own):
    """The home's own Python environment, by hand (`python -m venv` takes seconds): the runtime's packages are visible
    below the owner's, `pip install` writes here, and kernels and terminals use it. Kept through stop and start.
    """
    python = pathlib.Path(sys.executable)
    name = "python%d.%d" % sys.version_info[:2]
    packages = own / "lib" / name / "site-packages"
    packages.mkdir(parents=True, exist_ok=True)
    (own / "bin").mkdir(exist_ok=True)
    base = os.path.dirname(os.path.realpath(python))
    version = "%d.%d.%d" % sys.version_info[:3]
    keep(own / "pyvenv.cfg", f"home = {base}\ninclude-system-site-packages = false\nversion = {version}\n")
    keep(packages / "_runtime.pth", f"{sys.prefix}/lib/{name}/site-packages\n")
    for link in ("python", "python3", name):
        if not os.path.lexists(own / "bin" / link):
            (own / "bin" / link).symlink_to(python)
    for script in ("pip", "pip3"):
        if not os.path.lexists(own / "bin" / script):
            (own / "bin" / script).write_text(PIP)
            (own / "bin" / script).chmod(0o755)


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
    from jupyterlab.labapp import LabApp, main

    initialize_handlers = LabApp.initialize_handlers

    def without_token(self):
        initialize_handlers(self)
        self.serverapp.web_app.settings["page_config_data"]["token"] = ""

    LabApp.initialize_handlers = without_token
    listen_on_descriptor()
    sys.argv = ["jupyter-lab", *SETTINGS, *sys.argv[1:]]
    main()


try:
    make_home(pathlib.Path(os.environ["VIRTUAL_ENV"]))
except OSError as problem:
    # A full home must still open: deleting files is what its owner came for.
    print(f"The home's Python environment could not be made: {problem}", file=sys.stderr)
start_lab()
