"""Forks a process that has imported JupyterLab for each run, inside the namespaces of the run's sandbox (ADR 3).

The driver starts one for each runtime, with that runtime's Python: `-c THIS LAB_PY SOCKET_PATH`. It ends with its standard input.
It has seen nothing of a tenant, and a fork runs no code of a home before its namespaces and credentials are set. start_run.py
sends the run's arguments and environment variables, and as descriptors its namespaces, listening socket, log, and the pipe that
takes its exit code.
"""
import ctypes
import fcntl
import json
import os
import select
import shutil
import signal
import socket
import sys

LISTEN_FD = 9
# Inside (bubblewrap.ts).
USER = 1000
# linux/prctl.h, linux/capability.h
PR_SET_DUMPABLE, PR_SET_NAME, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 4, 15, 24, 38, 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
CAPABILITY_VERSION_3 = 0x20080522

libc = ctypes.CDLL(None, use_errno=True)


def main(lab, path):
    program = {"__name__": "lab"}
    exec(compile(lab, "lab.py", "exec"), program)
    program["preload"]()
    run = serve(path)
    if run:
        program["main"](run)


def serve(path):
    """Returns the arguments of a run in each process that is to become one, and None in this one when the driver has ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server.bind(path)
    server.listen(64)
    print("ready", flush=True)
    while True:
        if sys.stdin in select.select([server, sys.stdin], [], [])[0]:
            shutil.rmtree(os.path.dirname(path), ignore_errors=True)
            return None
        connection = server.accept()[0]
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            server.close()
            return become_run(connection)
        connection.close()


def become_run(connection):
    message, descriptors, *_ = socket.recv_fds(connection, 1 << 18, 32)
    request = json.loads(message)
    *namespaces, listener, log, exit_code = descriptors
    os.setsid()
    try:
        # As the run's supervisor has it.
        with open("/proc/self/oom_score_adj", "w") as score:
            score.write("500")
        enter(namespaces)
    except OSError as problem:
        connection.send(str(problem).encode())
        os._exit(1)
    connection.send(b"entered")
    # Whoever asked may have given up meanwhile, and starts the run otherwise.
    if connection.recv(10) != b"start":
        os._exit(1)
    connection.close()
    leave_for_sandbox()
    wait_in_parent(exit_code)
    take_descriptors(listener, log)
    os.environ.clear()
    os.environ.update(request["environment"])
    return request["arguments"]


def enter(namespaces):
    """Enters them in this order, becomes the sandbox's user, which is another one where the server is root (G315), and gives
    all capabilities up for good, as bubblewrap does.
    """
    if os.geteuid() == 0:
        os.setgroups([])
    for each in namespaces:
        check(libc.setns(each, 0))
    os.setresgid(USER, USER, USER)
    os.setresuid(USER, USER, USER)
    capability = 0
    while libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
        capability += 1
    check(libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
    check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    check(libc.capset((ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()))
    # The driver reads its row in /proc, as that of any process of its user.
    check(libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
    os.chdir("/")


def check(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def leave_for_sandbox():
    """Goes on in a process whose parent is the sandbox's first one: an orphan inside a process namespace gets that."""
    if inside := os.fork():
        os.waitpid(inside, 0)
        os._exit(0)
    if os.fork():
        os._exit(0)


def wait_in_parent(exit_code):
    """Goes on in a child. The parent passes its exit code to the sandbox's command, whose end ends the run."""
    child = os.fork()
    if child == 0:
        return
    libc.prctl(PR_SET_NAME, b"lab-waiter", 0, 0, 0)
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    os.dup2(exit_code, 0)
    os.closerange(1, 1 << 16)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.write(0, b"%d\n" % (code if code >= 0 else 128 - code))
    os._exit(0)


def take_descriptors(listener, log):
    listener, log = (fcntl.fcntl(each, fcntl.F_DUPFD, 64) for each in (listener, log))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.dup2(listener, LISTEN_FD)
    os.closerange(3, LISTEN_FD)
    os.closerange(LISTEN_FD + 1, 1 << 16)


main(*sys.argv[1:])
