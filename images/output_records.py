"""Records of runs of cells in the home, one file of JSON lines for each: what it is a run of, then the kernel's messages as they
come, then its end and the saves of the notebook that lack it (G375). Works on files alone, and is handed messages and notebooks.
"""
import json
import os
import stat
import time
import uuid

from cell_outputs import CUT_RUN, KEPT, Outputs, as_shown, cut, hash_of, merge
from cell_run import Run, has_seen_end, is_open, line_of, remove

LARGEST_RUN = 20_000_000
MOST_RUNS, LARGEST_FOLDER = 300, 400_000_000


class Unreadable(ValueError):
    pass


class Journal:
    """The records of all runs, in a folder of the home."""

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
        """The outputs of a run; besides, times in seconds, and how many bytes of the file are whole lines."""
        outputs = Outputs()
        outputs.end, outputs.saved = None, 0
        try:
            with self._open(run.name) as file:
                outputs.whole = len(file.readline())
                for line in file:
                    # The last one may be half written.
                    if line.endswith(b"\n"):
                        outputs.whole += len(line)
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
        """Ends the records that the saved notebook has, or that are older than what the page shows."""
        by_id = {cell.get("id"): cell for cell in cells}
        for run in [each for each in self.of(path) if each.id not in self.live]:
            try:
                outputs, cell = self.read(run), by_id.get(run.cell, {})
                there = cell.get("outputs", [])
                is_cleared = not there and run.is_shown
                if as_shown(there) == as_shown(outputs.result()) or is_cleared or has_seen_end(run):
                    self.forget(run)
                else:
                    with open(os.path.join(self.folder, run.name), "r+b") as file:
                        file.truncate(outputs.whole)
                        file.seek(outputs.whole)
                        file.write(line_of("saved", json.dumps({"at": at}).encode()))
            except (OSError, Unreadable):
                pass

    def renamed(self, old, new):
        old, new = old.strip("/"), new.strip("/")
        for _, _, about in self.requests.values():
            if about["path"] == old or about["path"].startswith(old + "/"):
                about["path"] = new + about["path"][len(old):]
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
