"""Keeps what cells print while no page shows their notebook (G375).

lab.py compiles this at the first notebook or kernel, after JupyterLab has answered. Each run of a cell has a file of JSON lines in
the home: what it is a run of, then the kernel's messages as they come. A notebook that is read gets the outputs of the runs that
its file lacks (G376); no notebook is ever written here. A save that has them ends the record.
"""
import hashlib
import json
import os
import re
import stat
import time
import uuid

from jupyter_server.base.handlers import APIHandler
from jupyter_server.services.kernels.connection.base import deserialize_msg_from_ws_v1
from jupyter_server.utils import ensure_async
from tornado import web

LARGEST_RUN = 20_000_000
# What a record that has reached it is cut to: half of this from its start, half from its end.
CUT_RUN = 8_000_000
MOST_RUNS, LARGEST_FOLDER = 300, 400_000_000
KEPT = ("stream", "display_data", "update_display_data", "execute_result", "error", "clear_output")
CUT = "\n[Berth: output was left out here, a cell's output is kept up to 20 MB while no page shows it]\n"
# A page that is gone without a word is found out by JupyterLab's pings after this.
PING_TIMEOUT_S = 120


class Unreadable(ValueError):
    pass


class Stream:
    """Text as a terminal and JupyterLab show it: \\r goes to the start of the line, \\b one back, and what follows overwrites."""

    def __init__(self):
        self.lines, self.line, self.column = [], "", 0

    def add(self, text):
        if self.column == len(self.line) and "\r" not in text and "\b" not in text:
            whole, newline, self.line = (self.line + text).rpartition("\n")
            self.lines.append(whole + newline)
            self.column = len(self.line)
            return
        for part in re.split("([\n\r\b])", text):
            if part == "\n":
                self.lines.append(self.line + "\n")
                self.line, self.column = "", 0
            elif part == "\r":
                self.column = 0
            elif part == "\b":
                self.column = max(0, self.column - 1)
            elif part:
                end = self.column + len(part)
                self.line = self.line[: self.column] + part + self.line[end:]
                self.column = end

    def text(self):
        return "".join(self.lines) + self.line

    def resumable(self):
        """The text that, added to an empty stream, makes this one."""
        back = len(self.line) - self.column
        return self.text() + ("\r" if back and not self.column else "\b" * back)


class Outputs:
    """The outputs of one run of a cell, from its messages in order."""

    def __init__(self):
        self.outputs, self.streams, self.count, self.clears = [], {}, None, False

    def add(self, kind, content):
        if kind == "execute_input":
            self.count = content.get("execution_count")
        elif kind == "update_display_data":
            self._update(content)
        elif kind == "clear_output":
            self.clears = bool(content.get("wait"))
            if not self.clears:
                self._clear()
        elif kind in KEPT:
            if self.clears:
                self._clear()
            self._append(kind, content)

    def _clear(self):
        self.outputs, self.streams, self.clears = [], {}, False

    def _append(self, kind, content):
        if kind == "stream":
            last = self.outputs[-1] if self.outputs else {}
            if last.get("output_type") != "stream" or last["name"] != content["name"]:
                self.outputs.append({"output_type": "stream", "name": content["name"], "text": ""})
                self.streams[len(self.outputs) - 1] = Stream()
            self.streams[len(self.outputs) - 1].add(joined(content["text"]))
        elif kind == "error":
            self.outputs.append({"output_type": "error", **{key: content[key] for key in ("ename", "evalue", "traceback")}})
        else:
            output = {"output_type": kind, "data": content["data"], "metadata": content.get("metadata") or {}}
            if kind == "execute_result":
                self.count = output["execution_count"] = content.get("execution_count")
            self.outputs.append({**output, "transient": content.get("transient") or {}})

    def _update(self, content):
        name = (content.get("transient") or {}).get("display_id")
        for output in self.outputs:
            if name is not None and output.get("transient", {}).get("display_id") == name:
                output.update(data=content["data"], metadata=content.get("metadata") or {})

    def result(self):
        """As a notebook has them."""
        return [
            {**output, "text": self.streams[place].text()}
            if place in self.streams
            else {key: value for key, value in output.items() if key != "transient"}
            for place, output in enumerate(self.outputs)
        ]

    def messages(self):
        """Messages that make these outputs, without what they have overwritten, cut to a size."""
        yield "execute_input", {"execution_count": self.count}
        all_of_them = [
            ("stream", {"name": output["name"], "text": self.streams[place].resumable()})
            if place in self.streams
            else (output["output_type"], {key: value for key, value in output.items() if key != "output_type"})
            for place, output in enumerate(self.outputs)
        ]
        yield from cut(all_of_them)
        if self.clears:
            yield "clear_output", {"wait": True}


def joined(text):
    return text if isinstance(text, str) else "".join(text)


def size_of(message):
    return len(json.dumps(message[1]))


def cut(messages):
    """Keeps what was first and last, and says in between that something was left out."""
    if sum(map(size_of, messages)) <= CUT_RUN:
        return messages
    head = take(messages, lambda text, room: text[:room])
    tail = take(messages[::-1], lambda text, room: text[-room:])[::-1]
    return [*head, ("stream", {"name": "stderr", "text": CUT}), *tail]


def take(messages, part):
    taken, room = [], CUT_RUN // 2
    for kind, content in messages:
        size = size_of((kind, content))
        if size > room:
            if kind == "stream":
                # A letter takes up to twelve bytes, if it is escaped.
                taken.append((kind, {**content, "text": part(content["text"], room * len(content["text"]) // size)}))
            break
        taken.append((kind, content))
        room -= size
    return taken


def hash_of(code):
    return hashlib.sha256(joined(code).encode("utf-8", "surrogatepass")).hexdigest()


def as_shown(outputs):
    """What two lists of outputs have in common if a page shows them alike."""
    shown = []
    for output in outputs:
        kind = output.get("output_type")
        if kind == "stream":
            text = joined(output.get("text", ""))
            if shown and shown[-1][:2] == [kind, output.get("name")]:
                shown[-1][2] += text
            else:
                shown.append([kind, output.get("name"), text])
        elif kind == "error":
            shown.append([kind, output.get("ename"), output.get("evalue")])
        else:
            data = output.get("data", {}).items()
            shown.append([kind, sorted((key, text_of(value)) for key, value in data)])
    for each in shown:
        if each[0] == "stream":
            stream = Stream()
            stream.add(each[2])
            each[2] = stream.text()
    return shown


def text_of(value):
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = "".join(value)
    return value.strip("\n") if isinstance(value, str) else json.dumps(value, sort_keys=True)


def merge(cells, records):
    """Puts outputs into cells with the same id and code. `records`: {cell id: (hash, outputs, count, is_whole)}. Returns the
    ids of the cells that have them now. One that is not whole replaces less only.
    """
    merged = []
    for cell in cells:
        record = records.get(cell.get("id"))
        if record is None or cell.get("cell_type") != "code" or hash_of(cell.get("source", "")) != record[0]:
            continue
        _, outputs, count, is_whole = record
        before = cell.get("outputs", [])
        if is_whole and count == cell.get("execution_count") and has_all(as_shown(before), as_shown(outputs)):
            merged.append(cell["id"])
        elif is_whole or len(json.dumps(as_shown(before))) < len(json.dumps(as_shown(outputs))):
            cell["outputs"] = outputs
            cell["execution_count"] = count
            # They are of a run here, as those of a page that is open.
            cell.setdefault("metadata", {})["trusted"] = True
            merged.append(cell["id"])
    return merged


def has_all(shown, recorded):
    """Whether what is shown begins with what was recorded: it may have more than that."""
    if not recorded or len(shown) < len(recorded) or shown[: len(recorded) - 1] != recorded[:-1]:
        return shown == recorded
    there, last = shown[len(recorded) - 1], recorded[-1]
    return there == last or (there[:2] == last[:2] and last[0] == "stream" and there[2].startswith(last[2]))


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


class Journal:
    def __init__(self, folder, log):
        self.folder, self.log, self.has_warned = folder, log, False
        # Runs by path and cell, those that the kernel has not begun and those that it works on by message.
        self.runs, self.requests, self.live = {}, {}, {}
        for name in sorted(os.listdir(folder)) if os.path.lexists(folder) else []:
            if name.endswith(".jsonl"):
                self._find(name)

    def _find(self, name):
        try:
            with self._open(name) as file:
                run = Run(name, json.loads(file.readline()))
                run.size = os.fstat(file.fileno()).st_size
            self.runs[(run.path, run.cell)] = run
        except (OSError, ValueError, KeyError, TypeError):
            self._set_aside(name)

    def _open(self, name):
        descriptor = os.open(os.path.join(self.folder, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        entry = os.fstat(descriptor)
        if not stat.S_ISREG(entry.st_mode) or entry.st_size > 2 * LARGEST_RUN:
            os.close(descriptor)
            raise Unreadable if stat.S_ISREG(entry.st_mode) else OSError("no file")
        return os.fdopen(descriptor, "rb")

    def _set_aside(self, name):
        self.warn(f"{name} cannot be read, and was set aside")
        try:
            os.replace(os.path.join(self.folder, name), os.path.join(self.folder, name + ".unreadable"))
        except OSError:
            pass

    def warn(self, message):
        if not self.has_warned:
            self.log.warning("Outputs of cells: %s", message)
        self.has_warned = True

    # What the page asks of the kernel, and what the kernel says

    def request(self, kernel, page, path, header, metadata, content):
        if not (path and metadata.get("cellId")) or content.get("silent"):
            return
        self.requests[header["msg_id"]] = kernel, page, {
            "path": path.strip("/"), "cell": metadata["cellId"], "hash": hash_of(content["code"]), "run": header["msg_id"],
        }

    def message(self, kernel, kind, parent, content):
        """`content` is JSON, as the kernel has sent it."""
        if kind == "status":
            state = json.loads(content).get("execution_state")
            # A kernel that starts works on nothing that another one was asked.
            if state == "starting":
                self.kernel_ended(kernel)
            if state == "idle":
                self.requests.pop(parent, None)
                if parent in self.live:
                    self.end(self.live[parent])
            return
        if kind == "execute_input" and parent in self.requests:
            self._begin(parent)
        run = self.live.get(parent)
        if run and run.file and (kind in KEPT or kind == "execute_input"):
            self._write(run, kind, content)
        elif kind in KEPT:
            self._write_late(kernel, kind, parent, content)

    def _write_late(self, kernel, kind, parent, content):
        """Threads print after their cell has ended, too."""
        run = next((each for each in self.runs.values() if (each.kernel, each.id) == (kernel, parent)), None)
        if run and run.ended_at:
            try:
                run.file = open(os.path.join(self.folder, run.name), "ab", buffering=0)
                self._write(run, kind, content)
            except OSError as problem:
                self._stop(run, problem)
            if run.file:
                run.file.close()
            run.file = None

    def _begin(self, parent):
        kernel, page, about = self.requests.pop(parent)
        self._make_room()
        run = Run(f"{int(time.time() * 1000):015d}-{uuid.uuid4().hex[:8]}.jsonl", about)
        run.kernel, run.page = kernel, page
        former = self.runs.get((run.path, run.cell))
        # A kernel works on one cell after the other.
        for other in [each for each in self.live.values() if each.kernel == kernel]:
            self.end(other)
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            run.file = open(os.path.join(self.folder, run.name), "xb", buffering=0)
            run.size = run.file.write(run.first_line())
        except OSError as problem:
            self._stop(run, problem)
        if former:
            self.forget(former)
        if run.file:
            self.live[parent] = self.runs[(run.path, run.cell)] = run

    def _write(self, run, kind, content):
        try:
            if len(content) > CUT_RUN:
                messages = cut([(kind, json.loads(content))])
                lines = [line_of(each, json.dumps(of_it).encode()) for each, of_it in messages]
            else:
                lines = [line_of(kind, content.replace(b"\n", b" "))]
            if run.size + sum(map(len, lines)) > LARGEST_RUN:
                messages = self.read(run).messages()
                self._replace(run, [line_of(each, json.dumps(of_it).encode()) for each, of_it in messages])
            for line in lines:
                if run.file.write(line) != len(line):
                    raise OSError("no space")
                run.size += len(line)
                run.lines += 1
        except (OSError, Unreadable) as problem:
            self._stop(run, problem)

    def _stop(self, run, problem):
        """Without an end the record is a beginning: it never replaces more than it has."""
        self.warn(f"not kept any longer: {problem}")
        if run.file:
            run.file.close()
        run.file = None

    def _replace(self, run, lines):
        """Writes a run's file again: what it is of, and these lines."""
        path = os.path.join(self.folder, run.name)
        try:
            with open(path + ".new", "wb") as file:
                file.write(run.first_line())
                file.writelines(lines)
            os.replace(path + ".new", path)
        except OSError:
            remove(path + ".new")
            raise
        if run.file:
            run.file.close()
            run.file = open(path, "ab", buffering=0)
        run.size = os.stat(path).st_size

    def end(self, run):
        self.live.pop(run.id, None)
        if run.file:
            run.ended_at = time.time()
            self._write(run, "end", json.dumps({"at": run.ended_at}).encode())
            if run.file:
                run.file.close()
            run.file = None

    def kernel_ended(self, kernel):
        """What the kernel was asked ends with it."""
        for run in [each for each in self.live.values() if each.kernel == kernel]:
            self.end(run)
        self.requests = {name: each for name, each in self.requests.items() if each[0] != kernel}

    def _make_room(self):
        ended = [run for run in self.runs.values() if run.id not in self.live]
        while ended and (len(self.runs) >= MOST_RUNS or sum(run.size for run in self.runs.values()) > LARGEST_FOLDER):
            self.forget(ended.pop(0))

    def forget(self, run):
        if self.runs.get((run.path, run.cell)) is run:
            del self.runs[(run.path, run.cell)]
        remove(os.path.join(self.folder, run.name))

    # What notebooks get

    def read(self, run):
        """The outputs of a run; with `end` and `saved`, times in seconds. None where the record was set aside."""
        outputs = Outputs()
        outputs.end, outputs.saved = None, 0
        try:
            with self._open(run.name) as file:
                file.readline()
                for line in file:
                    # The last one may be half written.
                    if line.endswith(b"\n"):
                        said = json.loads(line)
                        if said["kind"] in ("end", "saved"):
                            setattr(outputs, said["kind"], said["content"]["at"])
                        elif outputs.end:
                            outputs.end = os.fstat(file.fileno()).st_mtime
                        outputs.add(said["kind"], said["content"])
                outputs.written = os.fstat(file.fileno()).st_mtime
        except (ValueError, KeyError, TypeError, AttributeError):
            self.forget_unreadable(run)
            raise Unreadable from None
        return outputs

    def forget_unreadable(self, run):
        self.runs.pop((run.path, run.cell), None)
        self.live.pop(run.id, None)
        self._set_aside(run.name)

    def of(self, path):
        return [run for run in self.runs.values() if run.path == path.strip("/")]

    def fill(self, path, model):
        """Into the model of a notebook that is being read; its file stays as it is."""
        written_at = model["last_modified"].timestamp()
        records = {}
        for run in self.of(path):
            try:
                outputs = self.read(run)
            except (OSError, Unreadable):
                continue
            is_live = run.id in self.live and run.file is not None
            # Who wrote the file after the run, and was no page: git, or a run elsewhere.
            if is_live or written_at <= max(outputs.end or outputs.written, outputs.saved) + 1:
                records[run.cell] = run.hash, outputs.result(), outputs.count, is_live or outputs.end is not None
        merged = merge(model["content"]["cells"], records)
        for run in self.of(path):
            run.is_merged = run.cell in merged
            run.is_shown = run.is_shown or (run.is_merged and run.id not in self.live)

    def saved(self, path, cells, at):
        """Ends the records that the saved notebook has, or whose outputs were cleared on a page that had shown them."""
        by_id = {cell.get("id"): cell for cell in cells}
        for run in [each for each in self.of(path) if each.id not in self.live]:
            try:
                outputs, cell = self.read(run), by_id.get(run.cell, {})
                there = cell.get("outputs", [])
                if as_shown(there) == as_shown(outputs.result()) or (not there and self._was_shown(run)):
                    self.forget(run)
                else:
                    with open(os.path.join(self.folder, run.name), "ab") as file:
                        file.write(json.dumps({"kind": "saved", "content": {"at": at}}).encode() + b"\n")
            except (OSError, Unreadable):
                pass

    def _was_shown(self, run):
        heard_at = getattr(run.page, "berth_heard_at", 0)
        ended_at = run.ended_at or time.time()
        return run.is_shown or (is_open(run.page) and (heard_at > ended_at or time.time() > ended_at + PING_TIMEOUT_S))

    def renamed(self, old, new):
        old, new = old.strip("/"), new.strip("/")
        for run in list(self.runs.values()):
            if run.path == old or run.path.startswith(old + "/"):
                del self.runs[(run.path, run.cell)]
                run.path = new + run.path[len(old):]
                self.runs[(run.path, run.cell)] = run
                try:
                    with self._open(run.name) as file:
                        lines = file.readlines()[1:]
                    self._replace(run, lines)
                except (OSError, Unreadable) as problem:
                    self.warn(f"{new}: {problem}")

    def running(self, path, run_id, seen):
        """For a page that shows a notebook whose cell was run from another one: its runs, or what one has printed since."""
        if run_id is None:
            of = [run for run in self.of(path) if run.id in self.live and run.file and run.is_merged]
            return {"runs": [{"id": run.id, "cell": run.cell, "is_shown": is_open(run.page)} for run in of]}
        run = next((each for each in self.of(path) if each.id == run_id), None)
        if run is None:
            return {"is_running": False}
        reply = {"is_running": run.id in self.live and run.file is not None, "cell": run.cell, "seen": run.lines}
        if run.lines == seen and reply["is_running"]:
            return reply
        outputs = self.read(run)
        return {**reply, "outputs": outputs.result(), "count": outputs.count}


# Into JupyterLab


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
