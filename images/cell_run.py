"""One run of a cell, as output_records.py keeps it: which cell of which notebook, for which page, and how a line of its file looks."""
import json
import os
import time

# A page that is gone without a word is found out by JupyterLab's pings after this.
PING_TIMEOUT_S = 120


class Run:
    """One run of a cell. `file` is open while the kernel works on it."""

    def __init__(self, name, about):
        self.name = name
        self.path, self.cell, self.hash = (about[key] for key in ("path", "cell", "hash"))
        self.id, self.file, self.size, self.lines, self.ended_at = about["run"], None, 0, 0, None
        self.kernel, self.page = None, None
        # Whether the notebook that was read last got it, and whether it got the whole.
        self.is_merged, self.is_shown = False, False

    def first_line(self):
        return json.dumps({"path": self.path, "cell": self.cell, "hash": self.hash, "run": self.id}).encode() + b"\n"


def line_of(kind, content):
    return b'{"kind":"%s","content":%s}\n' % (kind.encode(), content)


def remove(path):
    try:
        os.unlink(path)
    except OSError:
        pass


def is_open(page):
    """Whether this websocket is still connected."""
    handler = getattr(page, "websocket_handler", None)
    return getattr(handler, "ws_connection", None) is not None


def has_seen_end(run):
    """Whether the page that asked for the run was connected all the time: what it shows is newer than any record."""
    if not run.ended_at or not is_open(run.page):
        return False
    return run.page.berth_heard_at > run.ended_at or time.time() > run.ended_at + PING_TIMEOUT_S
