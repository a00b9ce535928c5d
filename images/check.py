"""Checks a running image from inside: prints facts as JSON, or exits with 1 and a message.

Argument: the container type. The home is empty at the start.
"""
import importlib.metadata
import json
import os
import pathlib
import py_compile  # noqa: F401  proves that the standard library is complete
import shutil
import stat
import subprocess
import sys
import time
import urllib.request
import zipfile

RUNTIME = pathlib.Path("/opt/berth/runtime")
TENSORS = {
    "pytorch": "import torch, torchvision; d = 'cuda' if torch.cuda.is_available() else 'cpu';"
    "assert (torch.ones(4, 4, device=d) @ torch.ones(4, 4, device=d)).sum().item() == 64; print(torch.__version__, d)",
    "tensorflow": "import os; os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'; import tensorflow as tf;"
    "d = 'GPU' if tf.config.list_physical_devices('GPU') else 'CPU'\n"
    "with tf.device(d): assert float(tf.reduce_sum(tf.ones((4, 4)) @ tf.ones((4, 4)))) == 64\n"
    "print(tf.__version__, d.lower())",
}


def fail(message):
    sys.exit(message)


def ask(path, token):
    request = urllib.request.Request(f"http://127.0.0.1:8888{path}", headers={"Authorization": f"token {token}"})
    with urllib.request.urlopen(request, timeout=5) as response:
        return response.status


def serves():
    """JupyterLab accepts its token and refuses others."""
    token, last = os.environ["JUPYTER_TOKEN"], None
    for _ in range(300):
        try:
            if ask("/api", token) == 200 and ask("/lab", token) == 200:
                break
        except OSError as error:
            last = error
        time.sleep(0.1)
    else:
        fail(f"JupyterLab does not answer with an empty home: {last}")
    try:
        ask("/api/contents", "wrong")
        fail("JupyterLab answers to a wrong token")
    except urllib.error.HTTPError as error:
        if error.code != 403:
            fail(f"a wrong token is answered with {error.code}")


def is_compiled():
    """Every module of the runtime has bytecode, because a run with its read-only root cannot write it."""
    packages = next(RUNTIME.glob("lib/python3*/site-packages"))
    tag = sys.implementation.cache_tag
    modules = [path for name in ("jupyterlab", "jupyter_server", "ipykernel") for path in (packages / name).rglob("*.py")]
    bare = [str(path) for path in modules if not (path.parent / "__pycache__" / f"{path.stem}.{tag}.pyc").exists()]
    if not modules or bare:
        fail(f"without bytecode: {bare[:3] or 'no module was found'}")


def is_confined():
    """The security options of a run are in force, and no program has a setuid or setgid bit."""
    if os.getuid() != 1000 or "CapBnd:\t0000000000000000" not in pathlib.Path("/proc/self/status").read_text():
        fail("not user 1000 without capabilities")
    raised = stat.S_ISUID | stat.S_ISGID
    for folder, _, files in os.walk("/"):
        if folder.startswith(("/proc", "/sys", "/dev")):
            continue
        for path in (os.path.join(folder, name) for name in files):
            mode = os.lstat(path).st_mode
            if stat.S_ISREG(mode) and mode & raised:
                fail(f"{path} changes its user")
    if shutil.which("node"):
        fail("Node is on PATH")


def owners_packages_win():
    """`pip install` installs into the home, and kernels import that version before the runtime's."""
    wheel = pathlib.Path("/tmp/wcwidth-99-py3-none-any.whl")
    info = "wcwidth-99.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("wcwidth/__init__.py", "")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: wcwidth\nVersion: 99\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: check\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    own = pathlib.Path(os.environ["HOME"], ".local", "python", "bin")
    install = [own / "pip", "install", "-q", "--no-index", "--no-deps", wheel]
    subprocess.run(install, check=True, stderr=subprocess.PIPE)
    code = "import wcwidth; print(wcwidth.__file__)"
    found = subprocess.run([own / "python", "-c", code], capture_output=True, text=True)
    if not found.stdout.startswith(os.environ["HOME"]):
        fail(f"a package of the owner is not the one that is imported: {found.stdout or found.stderr}")


# What the gateway does: it asks JupyterLab to join the connection, then passes bytes on.
JOIN = """import base64, os, socket, sys, threading
keys = base64.b64encode(open("/tmp/check-key.pub", "rb").read()).decode()
connection = socket.create_connection(("127.0.0.1", 8888))
fields = f"Host: localhost\\r\\nAuthorization: token {os.environ['JUPYTER_TOKEN']}\\r\\nAuthorized-Keys: {keys}\\r\\n"
connection.sendall(f"GET /berth/ssh HTTP/1.1\\r\\n{fields}Connection: Upgrade\\r\\nUpgrade: ssh\\r\\n\\r\\n".encode())
head = b""
while not head.endswith(b"\\r\\n\\r\\n"):
    head += connection.recv(1) or sys.exit(head)
def up():
    while piece := os.read(0, 65536):
        connection.sendall(piece)
    connection.shutdown(socket.SHUT_WR)
threading.Thread(target=up, daemon=True).start()
while piece := connection.recv(65536):
    os.write(1, piece)
"""


def takes_ssh():
    """A terminal by the image's own client and server, under the options of a run; no host key is in the image."""
    if list(pathlib.Path("/etc/ssh").glob("ssh_host_*")):
        fail("the image has a host key, which all its runs would share")
    pathlib.Path("/tmp/join.py").write_text(JOIN)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "/tmp/check-key"], check=True)
    options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR", "BatchMode=yes"]
    command = ["ssh", "-tt", "-F", "/dev/null", "-i", "/tmp/check-key", "-o", "ProxyCommand=python3 /tmp/join.py"]
    command += [word for option in options for word in ("-o", option)]
    inside = "tty; id -un; which python; command -v rsync; env"
    done = subprocess.run([*command, "berth@demo", inside], capture_output=True, text=True, timeout=60)
    lines = done.stdout.splitlines()
    expected = ["berth", f"{os.environ['HOME']}/.local/python/bin/python", "/usr/bin/rsync"]
    if done.returncode or not lines[0].startswith("/dev/pts/") or lines[1:4] != expected or "JUPYTER_TOKEN" in done.stdout:
        fail(f"SSH does not work: {done.stdout[-600:]}{done.stderr[-600:]}")


def tensor(container_type):
    code = TENSORS.get(container_type)
    if not code:
        return None
    done = subprocess.run(["python", "-c", code], capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"no tensor could be made: {done.stderr[-600:]}")
    return done.stdout.strip()


serves()
is_compiled()
is_confined()
owners_packages_win()
takes_ssh()
version = importlib.metadata.version
if tuple(map(int, version("jupyter-server").split(".")[:2])) < (2, 18):
    fail("jupyter-server is older than 2.18")
facts = {"python": sys.version.split()[0], "jupyterlab": version("jupyterlab"), "tensor": tensor(sys.argv[1])}
print(json.dumps(facts))
