"""Keeps what cells print while no page shows their notebook (G375): the part that knows JupyterLab.

lab.py compiles this at the first notebook or kernel, after JupyterLab has answered. Each kernel has a listener here. A notebook that
is read gets the outputs that its file lacks (G376); no notebook is ever written here. A save that has them ends the record.
"""
import json
import time

from cell_outputs import KEPT
from jupyter_server.base.handlers import APIHandler
from jupyter_server.services.kernels.connection.base import deserialize_msg_from_ws_v1
from jupyter_server.utils import ensure_async
from output_records import Journal, Unreadable
from tornado import web


def listen_to_pages(app, journal):
    """Notes what pages ask of kernels, before a kernel can answer."""
    connection = app.kernel_websocket_connection_class
    handle = connection.handle_incoming_message

    def noting(self, message):
        self.berth_heard_at = time.time()
        try:
            request = execute_request_of(message, self.subprotocol)
            if request:
                journal.request(self.kernel_id, self, path_of_kernel(app, self.kernel_id), *request)
        except Exception as problem:
            journal.warn(f"a request was not understood: {problem}")
        return handle(self, message)

    connection.handle_incoming_message = noting


def execute_request_of(message, subprotocol):
    """Header, metadata and content of such a request; None for any other message."""
    if subprotocol == "v1.kernel.websocket.jupyter.org":
        if b"execute_request" not in message[:4096]:
            return None
        _, (header, _, metadata, content, *_) = deserialize_msg_from_ws_v1(message)
        header, metadata, content = map(json.loads, (header, metadata, content))
    else:
        if not isinstance(message, str) or "execute_request" not in message:
            return None
        whole = json.loads(message)
        header, metadata, content = whole["header"], whole["metadata"], whole["content"]
    return (header, metadata, content) if header["msg_type"] == "execute_request" else None


def path_of_kernel(app, kernel_id):
    app.session_manager.cursor  # makes the table
    rows = app.session_manager.connection.execute(
        "SELECT path FROM session WHERE kernel_id = ? AND type = 'notebook'", (kernel_id,)
    ).fetchall()
    # Two notebooks of one kernel: which one asked cannot be told.
    return rows[0][0] if len(rows) == 1 else None


def listen_to_kernels(app, journal):
    """A listener of its own on each kernel, which goes on while no page is connected."""
    kernels = app.kernel_manager
    watch, unwatch, restart = kernels.start_watching_activity, kernels.stop_watching_activity, kernels.restart_kernel
    streams = {}

    def take(kernel_id, parts):
        try:
            _, (_, header, parent, _, content, *_) = kernels.get_kernel(kernel_id).session.feed_identities(parts)
            kind = json.loads(header)["msg_type"]
            if kind == "status" or kind == "execute_input" or kind in KEPT:
                journal.message(kernel_id, kind, json.loads(parent).get("msg_id"), content)
        except Exception as problem:
            journal.warn(f"a message of a kernel was not understood: {problem}")

    def close(kernel_id):
        stream = streams.pop(kernel_id, None)
        if stream and not stream.closed():
            stream.close()

    def start(kernel_id):
        watch(kernel_id)
        close(kernel_id)
        streams[kernel_id] = kernels.get_kernel(kernel_id).connect_iopub()
        streams[kernel_id].on_recv(lambda parts: take(kernel_id, parts))
        for event in ("restart", "dead"):
            kernels.add_restart_callback(kernel_id, lambda: journal.kernel_ended(kernel_id), event)

    async def begin_again(kernel_id, *args, **options):
        journal.kernel_ended(kernel_id)
        return await ensure_async(restart(kernel_id, *args, **options))

    def stop(kernel_id):
        journal.kernel_ended(kernel_id)
        close(kernel_id)
        unwatch(kernel_id)

    kernels.start_watching_activity, kernels.stop_watching_activity = start, stop
    kernels.restart_kernel = begin_again


def fill_notebooks(app, journal):
    contents = app.contents_manager
    get, save, rename = contents.get, contents.save, contents.rename_file

    async def filled(path, content=True, type=None, format=None, **options):
        model = await ensure_async(get(path, content=content, type=type, format=format, **options))
        try:
            if content and model["type"] == "notebook":
                journal.fill(path, model)
        except Exception as problem:
            journal.warn(f"{path}: {problem}")
        return model

    async def saved(model, path=""):
        cells = (model.get("content") or {}).get("cells") if model.get("type") == "notebook" else None
        result = await ensure_async(save(model, path))
        try:
            if cells is not None:
                journal.saved(path, cells, result["last_modified"].timestamp())
        except Exception as problem:
            journal.warn(f"{path}: {problem}")
        return result

    async def renamed(old, new):
        await ensure_async(rename(old, new))
        try:
            journal.renamed(old, new)
        except Exception as problem:
            journal.warn(f"{new}: {problem}")

    contents.get, contents.save, contents.rename_file = filled, saved, renamed


class RunningCells(APIHandler):
    """`?path=` lists runs that go on; with `&run=&seen=` what one has printed, unless nothing is new."""

    def initialize(self, journal):
        self.journal = journal

    @web.authenticated
    def get(self):
        path, run = self.get_query_argument("path", ""), self.get_query_argument("run", None)
        seen = self.get_query_argument("seen", "")
        try:
            reply = self.journal.running(path, run, int(seen) if seen.isdecimal() else -1)
        except (OSError, Unreadable):
            reply = {"is_running": False}
        self.finish(json.dumps(reply))


def install(app, folder):
    try:
        journal = Journal(folder, app.log)
    except OSError as problem:
        app.log.warning("Outputs of cells are not kept: %s", problem)
        return
    listen_to_pages(app, journal)
    listen_to_kernels(app, journal)
    fill_notebooks(app, journal)
    app.web_app.add_handlers(".*$", [(app.base_url + "berth/outputs", RunningCells, {"journal": journal})])
