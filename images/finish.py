"""Last step of making a runtime: run with its Python, after its packages were installed."""
import compileall
import json
import pathlib
import py_compile
import sys


def finish():
    share = pathlib.Path(sys.prefix, "share", "jupyter")

    # jupyter_client puts its own interpreter where a kernel says `python`. Through `env` the kernel is the first Python on
    # PATH instead: the one of the home, where the owner's `pip install` goes.
    path = share / "kernels" / "python3" / "kernel.json"
    kernel = json.loads(path.read_text())
    kernel["argv"] = ["env", "python", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    path.write_text(json.dumps(kernel, indent=1))

    # No question about news, and no language servers, which are not installed: pages that only ask the network in vain.
    quiet = [
        "apputils-extension:announcements",
        "lsp-extension",
        "fileeditor-extension:language-server",
        "notebook-extension:language-server",
    ]
    settings = share / "lab" / "settings"
    settings.mkdir(parents=True, exist_ok=True)
    page_config = {"disabledExtensions": {f"@jupyterlab/{name}": True for name in quiet}}
    (settings / "page_config.json").write_text(json.dumps(page_config, indent=1))

    # Runs see the runtime read-only, so nothing could be compiled later: without this a start takes three times as long.
    # By hash and unchecked, so that no time stamp, which copying may change, makes it void.
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_dir(pathlib.Path(sys.prefix, "lib"), quiet=2, workers=0, force=True, invalidation_mode=mode)


# Guarded, because the processes that compile read this file too.
if __name__ == "__main__":
    finish()
