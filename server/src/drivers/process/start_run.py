"""First program of a run, outside its sandbox: `-c THIS SOCKET_PATH FORK_SERVER ARGUMENTS COMMAND...`.

Binds the run's socket and passes it on as descriptor 9: the run does not see the socket's folder, so it cannot replace the socket
by a link to one of the host. Connections are refused until JupyterLab listens. Then becomes the command.

Where FORK_SERVER is the path of a socket, the command is a sandbox whose own command waits for a word on descriptor 8: the
exit code of a JupyterLab that the fork server has started in its namespaces, or "exec", to become one itself.
"""
import fcntl
import json
import os
import socket
import sys

INFO_FD, READY_FD, ANSWER_FD, LISTEN_FD = 6, 7, 8, 9
# linux/nsfs.h
NS_GET_PARENT = 0xB702


def main(path, fork_server, arguments, *command):
    bound = socket.socket(socket.AF_UNIX)
    bound.bind(path)
    os.dup2(bound.fileno(), LISTEN_FD)
    if fork_server:
        pass_on(fork_server, arguments)
    os.execv(command[0], command)


def pass_on(fork_server, arguments):
    """Goes on in the parent; a child waits for its sandbox and asks the fork server."""
    (info, info_end), (ready, ready_end), (answer_end, answer) = pipe(), pipe(), pipe()
    if os.fork():
        for end, fd in ((info_end, INFO_FD), (ready_end, READY_FD), (answer_end, ANSWER_FD)):
            os.dup2(end, fd)
        return
    for end in (info_end, ready_end, answer_end):
        os.close(end)
    with os.fdopen(info) as text:
        sandbox = json.load(text)["child-pid"]
    # Its command runs: all namespaces are set up.
    if os.read(ready, 1) and not ask(fork_server, arguments, sandbox, answer):
        os.write(answer, b"exec\n")
    os._exit(0)


def pipe():
    """Above the descriptors that are passed on."""
    ends = os.pipe()
    above = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, LISTEN_FD + 1) for each in ends]
    for each in ends:
        os.close(each)
    return above


def ask(fork_server, arguments, sandbox, answer):
    """Whether the fork server started JupyterLab in the sandbox's namespaces."""
    request = {"arguments": json.loads(arguments), "environment": dict(os.environ)}
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
            connection.settimeout(5)
            connection.connect(fork_server)
            descriptors = [*namespaces(sandbox), LISTEN_FD, 1, answer]
            socket.send_fds(connection, [json.dumps(request).encode()], descriptors)
            reply = connection.recv(1000)
            if reply == b"entered":
                connection.send(b"start")
    except OSError as problem:
        reply = str(problem).encode()
    if reply != b"entered":
        print("The fork server could not start this run:", reply.decode(), file=sys.stderr)
    return reply == b"entered"


def namespaces(process):
    """Those that are not this process's own, in the order in which they can be entered: a sandbox that may create no user
    namespaces is in a second one, which has no rights over the others.
    """
    user = namespace(process, "user")
    outer = fcntl.ioctl(user, NS_GET_PARENT)
    users = [user] if is_own(outer, "user") else [outer, user]
    others = [(name, namespace(process, name)) for name in ("mnt", "pid", "ipc", "uts", "cgroup", "net")]
    return [users[0], *[fd for name, fd in others if not is_own(fd, name)], *users[1:]]


def namespace(process, name):
    return os.open(f"/proc/{process}/ns/{name}", os.O_RDONLY)


def is_own(fd, name):
    return os.path.sameopenfile(fd, namespace("self", name))


main(*sys.argv[1:])
