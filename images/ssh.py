"""Joins the gateway to an OpenSSH server of one connection, started for it and ending with it (G404).

lab.py compiles this at the first call. JupyterLab answers 101 and hands the connection to sshd: it reads no byte of it. No port
is opened, and nothing runs while nobody is connected.
"""
import asyncio
import base64
import json
import os
import pwd
import shutil
import socket
import tempfile

from tornado import web

HOST_KEY = "~/.ssh/berth_host_ed25519_key"
LARGEST_KEYS = 32_768
JOINED = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ssh\r\n\r\n"
# Not of PATH, which begins with the home's folders.
PROGRAMS = "/usr/sbin:/usr/local/sbin:/sbin:/usr/bin:/usr/local/bin:/bin"
SFTP_FOLDERS = "/usr/lib/openssh:/usr/libexec/openssh:/usr/libexec:/usr/lib/ssh"
# What sshd or the shell sets, and the run's secret.
NOT_PASSED_ON = {"JUPYTER_TOKEN", "USER", "LOGNAME", "SHELL", "TERM", "PWD", "OLDPWD", "SHLVL", "_", "MAIL"}
# No login shell, for the same cause as in terminals (lab.py); HOME may be another folder than the user's.
SHELL = 'cd "$HOME"; if [ -n "$SSH_ORIGINAL_COMMAND" ]; then exec "$SHELL" -c "$SSH_ORIGINAL_COMMAND"; else exec "$SHELL"; fi'
CONFIG = """HostKey {host_key}
AuthorizedKeysFile {keys}
PasswordAuthentication no
KbdInteractiveAuthentication no
PubkeyAuthentication yes
UsePAM no
StrictModes no
PermitRootLogin prohibit-password
AllowTcpForwarding yes
AllowAgentForwarding yes
GatewayPorts no
X11Forwarding no
PermitTunnel no
UseDNS no
PidFile none
PrintMotd no
PrintLastLog no
LogLevel ERROR
MaxAuthTries 6
MaxSessions 64
LoginGraceTime 120
ClientAliveInterval 30
Subsystem sftp {sftp}
SetEnv {variables}
ForceCommand {shell}
"""


async def serve(handler, what):
    """`GET berth/ssh/host-key` describes it, `GET berth/ssh` with `Upgrade: ssh` joins. Only for callers with the run's token: a
    page has an Origin or a cookie, and cannot ask for this upgrade. `Authorized-Keys` has the lines of that file in base64.
    """
    headers = handler.request.headers
    joins = what is None
    if joins and (headers.get("Upgrade", "").lower() != "ssh" or "Origin" in headers or "Cookie" in headers):
        raise web.HTTPError(400, "This path is for the gateway")
    sshd, keygen = program("sshd"), program("ssh-keygen")
    if not sshd or not keygen:
        raise web.HTTPError(501, "SSH is not installed on this machine")
    if not joins:
        path = await host_key(keygen)
        handler.finish(json.dumps({"host_key": await output(keygen, "-y", "-P", "", "-f", path), "user": user()}))
        return
    keys, path = keys_of(headers), await host_key(keygen)
    folder = tempfile.mkdtemp(prefix="berth-ssh-")
    try:
        configure(folder, keys, path)
        await hand_over(taken_from(handler), sshd, f"{folder}/config")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def hand_over(connection, sshd, config):
    """Returns when the connection has ended. sshd is marked, so that a driver without sandboxes finds what a run has started."""
    variables = {name: os.environ[name] for name in ("PATH", "RUN_MARK") if name in os.environ}
    pipes = {"stdin": connection, "stdout": connection}
    try:
        connection.sendall(JOINED)
        process = await asyncio.create_subprocess_exec(
            *(sshd, "-i", "-e", "-f", config), **pipes, env=variables, start_new_session=True
        )
    except OSError as problem:
        print(f"An SSH connection could not be served: {problem}")
        return
    finally:
        connection.close()
    await process.wait()


def taken_from(handler):
    """The connection's socket, of which JupyterLab reads no more. The gateway has sent nothing after its request."""
    stream = handler.detach()
    connection = socket.socket(fileno=os.dup(stream.socket.fileno()))
    stream.close()
    connection.setblocking(True)
    return connection


def keys_of(headers):
    text = headers.get("Authorized-Keys", "")
    if not text or len(text) > LARGEST_KEYS:
        raise web.HTTPError(400, "Authorized-Keys is missing or too long")
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise web.HTTPError(400, "Authorized-Keys must be base64")


def configure(folder, keys, path):
    with open(f"{folder}/keys", "wb") as file:
        file.write(keys)
    # sshd reads the first SetEnv only.
    variables = [quoted(f"{name}={os.environ[name]}") for name in os.environ if name not in NOT_PASSED_ON]
    sftp = shutil.which("sftp-server", path=SFTP_FOLDERS) or "internal-sftp"
    text = CONFIG.format(
        host_key=quoted(path), keys=f"{folder}/keys", sftp=sftp, shell=SHELL, variables=" ".join(filter(None, variables))
    )
    with open(f"{folder}/config", "w") as file:
        file.write(text)


def quoted(word):
    """As sshd_config takes it; None for what it cannot have."""
    if "\n" in word or "\0" in word:
        return None
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


async def host_key(keygen):
    """The path of the home's own host key, made at the first call: clients know it again after a stop or a move."""
    path = os.path.expanduser(HOST_KEY)
    try:
        if os.path.isfile(path):
            # As sshd demands.
            os.chmod(path, 0o600)
            return path
        folder = os.path.dirname(path)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".new-") as drafts:
            draft = os.path.join(drafts, "key")
            await output(keygen, "-q", "-t", "ed25519", "-N", "", "-C", "berth", "-f", draft)
            # Of two at once one wins.
            try:
                os.link(draft, path)
            except FileExistsError:
                pass
        return path
    except OSError as problem:
        raise web.HTTPError(507, f"{HOST_KEY} could not be made: {problem.strerror}")


async def output(*command):
    pipes = {"stdin": asyncio.subprocess.DEVNULL, "stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.DEVNULL}
    process = await asyncio.create_subprocess_exec(*command, **pipes)
    text, _ = await process.communicate()
    if process.returncode != 0:
        raise web.HTTPError(507, f"{HOST_KEY} could not be made or read: delete it")
    return text.decode().strip()


def program(name):
    return shutil.which(name, path=PROGRAMS)


def user():
    """Who signs in: the images' user, whose name the sandbox of the process driver knows too, or whoever this process is."""
    try:
        if pwd.getpwnam("berth").pw_uid == os.getuid():
            return "berth"
    except KeyError:
        pass
    return pwd.getpwuid(os.getuid()).pw_name
