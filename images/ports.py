"""Joins the gateway to what listens on a port inside, and lists such ports (G385, G386).

lab.py compiles this at the first call. A connection is JupyterLab's only until it is answered 101: from then on its bytes go to the
port and back, and none of them is read as a request.
"""
import asyncio
import json
import os
import socket

from tornado import web
from tornado.iostream import IOStream, StreamClosedError

LOWEST, HIGHEST = 1024, 65535
READ_BYTES = 65536
CONNECT_SECONDS = 2
GREETING_SECONDS = 1
MOST_LISTED = 100
LONGEST_NAME = 60
LISTENING = "0A"
# As /proc/net writes them: of loopback, and of all addresses.
ADDRESSES = {
    "tcp": lambda address: address.endswith("7F") or address == "00000000",
    "tcp6": lambda address: address in ("0" * 32, "00000000000000000000000001000000"),
}
# Of this run's programs, as last read: /proc is not searched again for each connection.
OWN_SOCKETS = set()
# Sockets of kernels, and whether they speak ZeroMQ.
GREETS = {}
JOINED = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"


async def serve(handler, port):
    """`GET berth/ports` lists, `GET berth/ports/6006` with `Upgrade: tcp` joins. Only for callers with the run's token: a page has
    an Origin or a cookie, and cannot ask for this upgrade.
    """
    headers = handler.request.headers
    if port is None:
        handler.finish(json.dumps(await listed(handler.serverapp)))
        return
    if headers.get("Upgrade", "").lower() != "tcp" or "Origin" in headers or "Cookie" in headers:
        raise web.HTTPError(400, "This path is for the gateway")
    number = int(port) if len(port) <= 5 else 0
    program = await connect(number) if is_open_here(handler.serverapp, number) else None
    if program is None:
        raise web.HTTPError(502, f"Nothing listens on port {port}")
    gateway = handler.detach()
    gateway.set_nodelay(True)
    await relay(gateway, program)


def is_open_here(app, port):
    """Never JupyterLab's own port; where runs share a network, only a port of this run's own programs."""
    if not LOWEST <= port <= HIGHEST or (not app.sock and port == app.port):
        return False
    if "RUN_MARK" not in os.environ:
        return True
    sockets = listening()
    if sockets is None:
        return True
    inodes = {inode for each, inode in sockets if each == port}
    if not inodes & OWN_SOCKETS:
        OWN_SOCKETS.clear()
        OWN_SOCKETS.update(programs())
    return bool(inodes & OWN_SOCKETS)


async def connect(port):
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        try:
            stream = IOStream(socket.socket(family, socket.SOCK_STREAM))
        except OSError:
            continue
        try:
            await asyncio.wait_for(stream.connect((address, port)), CONNECT_SECONDS)
            stream.set_nodelay(True)
            return stream
        except (OSError, StreamClosedError, asyncio.TimeoutError):
            stream.close()
    return None


async def relay(gateway, program):
    """Copies both ways; a slow reader slows the writer. The end of one side ends the other, after what it has sent."""
    try:
        await gateway.write(JOINED)
        ways = [asyncio.ensure_future(copy(gateway, program)), asyncio.ensure_future(copy(program, gateway))]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    except StreamClosedError:
        pass
    finally:
        gateway.close()
        program.close()


async def copy(source, target):
    try:
        while True:
            await target.write(await source.read_bytes(READ_BYTES, partial=True))
    except StreamClosedError:
        pass


async def listed(app):
    """The ports on which a program of this run listens, by number; None where the machine does not say."""
    sockets = listening()
    if sockets is None:
        return None
    taken = {port for kernel in kernels(app) for port in kernel.ports} | ({app.port} if not app.sock else set())
    names = programs()
    found = {}
    for port, inode in sorted(sockets):
        if inode in names and port >= LOWEST and port not in taken:
            program = name_of(names[inode])
            if program != "notebook" or not await speaks_zeromq(port, inode):
                found.setdefault(port, program)
    return [{"port": port, "program": program} for port, program in list(found.items())[:MOST_LISTED]]


async def speaks_zeromq(port, inode):
    """A kernel has one more port, for its own threads. ZeroMQ greets whoever connects, and no web server does. Asked once."""
    if inode not in GREETS:
        GREETS[inode] = False
        stream = await connect(port)
        try:
            if stream:
                GREETS[inode] = await asyncio.wait_for(stream.read_bytes(1), GREETING_SECONDS) == b"\xff"
        except (StreamClosedError, asyncio.TimeoutError):
            pass
        finally:
            if stream:
                stream.close()
    return GREETS[inode]


def kernels(app):
    """Kernels listen for JupyterLab; where that is through files, their numbers are none of ports."""
    managers = (app.kernel_manager.get_kernel(each) for each in app.kernel_manager.list_kernel_ids())
    return [each for each in managers if each.transport == "tcp"]


def listening():
    """Pairs of a port and its socket's number; None where /proc does not have them."""
    found = []
    for table, is_here in ADDRESSES.items():
        try:
            with open(f"/proc/self/net/{table}") as lines:
                rows = [line.split() for line in lines][1:]
        except OSError:
            if table == "tcp":
                return None
            continue
        for row in rows:
            address, _, port = row[1].partition(":")
            if row[3] == LISTENING and is_here(address):
                found.append((int(port, 16), row[9]))
    return found


def programs():
    """The process of each socket by its number, of this run's processes: elsewhere /proc has other runs' too."""
    mark = os.environ.get("RUN_MARK", "").encode()
    found = {}
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            if not mark or mark in read(pid, "environ"):
                for each in os.scandir(f"/proc/{pid}/fd"):
                    kind, _, inode = os.readlink(each.path).partition(":[")
                    if kind == "socket":
                        found.setdefault(inode[:-1], pid)
        except OSError:
            # It has ended, or is another user's.
            continue
    return found


def read(pid, name):
    with open(f"/proc/{pid}/{name}", "rb") as file:
        return file.read(1_000_000)


def name_of(pid):
    """What a person calls the program: of a Python one its module or script."""
    try:
        words = [each.decode("utf-8", "replace") for each in read(pid, "cmdline").split(b"\0") if each]
    except OSError:
        words = []
    if not words:
        return "?"
    program, *rest = (os.path.basename(words[0]), *words[1:])
    if program.startswith("python"):
        while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c"):
            rest.pop(0)
        if len(rest) > 1 and rest[0] == "-m":
            program = rest[1]
        elif rest and rest[0] not in ("-m", "-c"):
            program = os.path.basename(rest[0])
    if program.startswith("ipykernel"):
        return "notebook"
    return "".join(each for each in program if each.isprintable())[:LONGEST_NAME] or "?"
