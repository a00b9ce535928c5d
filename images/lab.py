"""Starts JupyterLab for one run, with the same settings on every kind of host, and with an untrusted home.

Runs with the runtime's own Python; the arguments have the address. Until JupyterLab serves, no configuration is read and no
program is run from the home (G105): PATH gets the home's folders after the start. With WITHOUT_SETTINGS=1 the home is used
for files only (G106).

`preload` knows nothing of a run, so that a process which has called it can be forked for many runs (ADR 3).
"""
import gc
import importlib
import itertools
import json
import os
import pathlib
import shutil
import socket
import sys
import types

# JupyterLab imports these while it starts.
IMPORTED_LATER = [
    "jinja2.ext",
    "jupyter_server_terminals.app",
    "jupyterlab.labapp",
    "notebook_shim.shim",
    "tornado.platform.asyncio",
]
# jsonschema checks formats with those of these that it finds; the server's schemas need none. One compiles a grammar for 0.7 s.
FORMATS = [
    *("fqdn", "isoduration", "jsonpointer", "rfc3339_validator", "rfc3986_validator", "rfc3987_syntax"),
    *("uri_template", "webcolors"),
]


class Run:
    """Where the files of this process's run are, by its environment variables."""

    def __init__(self):
        self.home = pathlib.Path(os.environ["HOME"])
        self.folder = pathlib.Path(os.environ["JUPYTER_RUNTIME_DIR"])
        self.without_settings = os.environ.pop("WITHOUT_SETTINGS", "") == "1"
        # Packages, settings and layouts: in the home, or of this run only.
        self.own = self.folder / "python" if self.without_settings else self.home / ".local" / "python"
        self.lab = self.folder / "lab" if self.without_settings else self.home / ".jupyter" / "lab"


def settings(run):
    return [
        "--no-browser",
        # Behind the gateway the Host header is the subdomain, which JupyterLab otherwise refuses (403).
        "--ServerApp.allow_remote_access=True",
        "--ServerApp.base_url=/",
        "--ServerApp.quit_button=False",
        f"--ServerApp.root_dir={run.home}",
        "--ServerApp.terminals_enabled=True",
        f"--ServerApp.terminado_settings={{'shell_command': {terminal(run)}}}",
        # No language servers come with the runtime, and the shim is for the classic notebook.
        '--ServerApp.jpserver_extensions={"jupyter_lsp": False, "notebook_shim": False}',
        "--LabApp.extension_manager=readonly",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        # Only the page reads and writes them.
        f"--LabApp.user_settings_dir={run.lab / 'user-settings'}",
        f"--LabApp.workspaces_dir={run.lab / 'workspaces'}",
        # The first of one name counts.
        f"--LabApp.extra_labextensions_path={run.folder / 'labextensions'}",
        f"--LabApp.extra_labextensions_path={run.own}/share/jupyter/labextensions",
    ]


def part(name):
    """The text of another file of this folder. A run of the process driver sees none: its driver writes PARTS before this text."""
    return PARTS[name] if "PARTS" in globals() else pathlib.Path(__file__).with_name(name).read_text()


def add_to_page(run, name, files):
    """An extension of the page of these files, the first of which is loaded: for cells that still run when it opens (G377), and
    the bar with what the rental has left (G392).
    """
    static = run.folder / "labextensions" / name / "static"
    static.mkdir(parents=True, exist_ok=True)
    build = {"load": f"static/{files[0]}", "extension": "./extension"}
    package = {"name": name, "version": "1.0.0", "jupyterlab": {"extension": True, "_build": build}}
    (static.parent / "package.json").write_text(json.dumps(package))
    for file in files:
        (static / file).write_text(part(file))


def record_outputs(app, run):
    """Keeps outputs of cells for pages that were closed meanwhile (G375), from the first notebook or kernel on: JupyterLab
    has answered then.
    """
    contents, kernels = app.contents_manager, app.kernel_manager
    get, watch = contents.get, kernels.start_watching_activity

    def install():
        contents.get, kernels.start_watching_activity = get, watch
        try:
            for name in ("cell_outputs", "cell_run", "output_records", "outputs"):
                load(name)
            sys.modules["outputs"].install(app, str(run.home / ".local" / "share" / "berth" / "outputs"))
        except Exception as problem:
            print(f"Outputs of cells are not kept: {problem}", file=sys.stderr)

    def first_get(*args, **options):
        install()
        return contents.get(*args, **options)

    def first_watch(kernel_id):
        install()
        return kernels.start_watching_activity(kernel_id)

    contents.get, kernels.start_watching_activity = first_get, first_watch


def serve_gateway(app):
    """For the gateway: what listens on a port inside (G386), and SSH (G404). Their code is compiled at the first call."""
    from jupyter_server.base.handlers import APIHandler
    from tornado import web

    def handler_of(name):
        class Part(APIHandler):
            @web.authenticated
            async def get(self, what=None):
                if name not in sys.modules:
                    load(name)
                await sys.modules[name].serve(self, what)

        return Part

    paths = {"ports": "berth/ports(?:/([0-9]+))?", "ssh": "berth/ssh(?:/(host-key))?"}
    app.web_app.add_handlers(".*$", [(app.base_url + path, handler_of(name)) for name, path in paths.items()])


def load(name):
    """Compiles another file of this folder, as a module."""
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(part(f"{name}.py"), f"{name}.py", "exec"), module.__dict__)
    return module


def terminal(run):
    """No login shell (-l is the default), because the system's profile would reset PATH and hide the home's Python. An
    interactive shell reads ~/.bashrc.
    """
    shell = shutil.which("bash") or "/bin/sh"
    return [shell, "--norc"] if run.without_settings and shell.endswith("bash") else [shell]


def variables(run):
    """Environment variables for kernels and terminals, but not for JupyterLab itself."""
    programs = [run.own / "bin", *([] if run.without_settings else [run.home / ".local" / "bin"])]
    return {
        "PATH": ":".join([*map(str, programs), os.environ["PATH"]]),
        "VIRTUAL_ENV": str(run.own),
        "VIRTUAL_ENV_DISABLE_PROMPT": "1",
        "JUPYTER_PATH": f"{run.own}/share/jupyter",
        **({"IPYTHONDIR": str(run.folder / "ipython")} if run.without_settings else {}),
    }


def ignore_configuration_of_the_home():
    """Makes Jupyter's configuration folder an empty one of the run, for the server only: its child processes use the
    home's.
    """
    import jupyter_core.paths

    def folder():
        # Asked at imports too, where there may be no run.
        return os.path.join(os.environ.get("JUPYTER_RUNTIME_DIR", "/nonexistent"), "config")

    jupyter_core.paths.jupyter_config_dir = folder
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


class Postponed(types.ModuleType):
    """Imports the module of this name when something of it is used."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        sys.modules.pop(self.__name__, None)
        return getattr(importlib.import_module(self.__name__), name)


def postpone_imports():
    """Called before any module of Jupyter is imported, because imports are nine tenths of a start. What a start imports is
    counted (images/lab-imports.json).
    """
    # Objects that modules make at import stay: collecting among them takes a tenth of the start.
    gc.disable()
    sys.modules.update(dict.fromkeys(FORMATS))
    # For listings of extensions at a URL, and for an extension manager: neither is in use.
    sys.modules["requests"] = Postponed("requests")
    sys.modules["jupyterlab.extensions.pypi"] = Postponed("jupyterlab.extensions.pypi")
    sys.modules["jupyterlab.extensions.pypi"].PyPIExtensionManager = None


def preload():
    """Imports JupyterLab, nine tenths of its start. Reads nothing of a run, and starts no thread."""
    postpone_imports()
    ignore_configuration_of_the_home()
    load("lab_extensions").read_extensions_with_care()
    load("own_python")
    listen_on_descriptor()
    import jupyterlab.commands

    # It would run Node for yarn's settings of building extensions, which a read-only runtime never does.
    jupyterlab.commands._yarn_config = lambda logger: {"yarn config": {}, "npm config": {}}
    from jupyter_server.serverapp import JUPYTER_SERVICE_HANDLERS

    for name in itertools.chain(IMPORTED_LATER, *filter(None, JUPYTER_SERVICE_HANDLERS.values())):
        importlib.import_module(name)
    gc.freeze()


def start_lab(run, arguments):
    """Removes the run's token from the page (G95)."""
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
        own_kernels = [f"{run.own}/share/jupyter/kernels", f"{run.home}/.ipython/kernels"]
        self.kernel_spec_manager.kernel_dirs = [*jupyter_path("kernels"), *own_kernels]
        os.environ.update(variables(run))
        if not run.without_settings:
            record_outputs(self, run)
        serve_gateway(self)
        gc.enable()
        start_app(self)

    LabApp.initialize_handlers, ServerApp.start_app = without_token, with_the_home
    sys.argv = ["jupyter-lab", *settings(run), *arguments]
    main()


def main(arguments):
    """Starts JupyterLab for the run of this process's environment variables, and returns when it ends."""
    run = Run()
    if run.without_settings:
        os.environ["JUPYTER_DATA_DIR"] = str(run.folder / "data")
    try:
        own_python = sys.modules["own_python"]
        own_python.ensure_folder(run.home)
        os.chdir(run.home)
        own_python.make_home(run)
    except OSError as problem:
        # JupyterLab must start with a full home too, so that its owner can delete files.
        print(f"The home's Python environment could not be made: {problem}", file=sys.stderr)
    (run.folder / "config").mkdir(mode=0o500, parents=True, exist_ok=True)
    if not run.without_settings:
        try:
            add_to_page(run, "@berth/outputs", ["outputs.js"])
            add_to_page(run, "@berth/bar", ["bar.js", "bar-view.js"])
        except OSError as problem:
            print(f"The page has no bar, and does not go on with cells that run: {problem}", file=sys.stderr)
    start_lab(run, arguments)


if __name__ == "__main__":
    preload()
    main(sys.argv[1:])
