"""The outputs of one run of a cell: from the kernel's messages, as a page shows them, and into a notebook (G375, G376)."""
import hashlib
import json
import re

# What a record that has grown too large is cut to: half of this from its start, half from its end.
CUT_RUN = 8_000_000
KEPT = ("stream", "display_data", "update_display_data", "execute_result", "error", "clear_output")
CUT = "\n[Berth: output was left out here, a cell's output is kept up to 20 MB while no page shows it]\n"


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
