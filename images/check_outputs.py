"""Checks of records of outputs alone: no JupyterLab runs. The argument is one of these functions."""
import datetime
import json
import os
import random
import sys
import tempfile
import time
import types

from cell_outputs import Outputs, hash_of, merge
from output_records import Journal

warnings = []
log = types.SimpleNamespace(warning=lambda *words: warnings.append(words))
page = types.SimpleNamespace(websocket_handler=types.SimpleNamespace(ws_connection=1))


def say(journal, kind, content, parent="m"):
    journal.message("k", kind, parent, json.dumps(content).encode())


def run(code="c", path="n.ipynb", cell="x", folder=None):
    journal = Journal(folder or tempfile.mkdtemp(), log)
    journal.request("k", page, path, {"msg_id": "m"}, {"cellId": cell}, {"code": code})
    say(journal, "execute_input", {"execution_count": 1})
    return journal


def merges():
    for seed in range(1000):
        of = random.Random(seed)
        sources = [of.choice(["", "a", "b\r\n", "\ud800", ["x = 1\n", "y"]]) for _ in range(of.randrange(8))]
        kinds = [of.choice(["code", "markdown", "raw"]) for _ in sources]
        cells = [{"id": of.choice("abcd"), "cell_type": kind, "source": source, "outputs": []} for kind, source in zip(kinds, sources)]
        if of.random() < 0.3:
            [cell.pop(of.choice(list(cell))) for cell in cells if of.random() < 0.3 and "source" in cell]
        before = [{key: value for key, value in cell.items() if key in ("id", "cell_type", "source")} for cell in json.loads(json.dumps(cells))]
        records = {id: (hash_of(of.choice([*sources, "other"])), [{"output_type": "stream", "name": "stdout", "text": "t"}], 1, of.random() < 0.5) for id in "abc"}
        merge(cells, records)
        after = [{key: value for key, value in cell.items() if key in ("id", "cell_type", "source")} for cell in cells]
        assert json.loads(json.dumps(after)) == before, seed
        for cell in cells:
            assert not cell.get("outputs") or (cell["cell_type"] == "code" and hash_of(cell.get("source", "")) == records[cell["id"]][0]), seed


def compaction():
    """A record that was written again gives what it gave before, and goes on from there."""
    pieces = ["a", "bc\n", "\r", "\b", "long line ", "\n"]
    for seed in range(300):
        of = random.Random(seed)
        messages = [("execute_input", {"execution_count": seed})]
        for _ in range(of.randrange(30)):
            messages.append(of.choice([
                ("stream", {"name": of.choice(["stdout", "stderr"]), "text": "".join(of.choices(pieces, k=3))}),
                ("display_data", {"data": {"text/plain": str(seed)}, "transient": {"display_id": of.choice("pq")}}),
                ("update_display_data", {"data": {"text/plain": "new"}, "transient": {"display_id": of.choice("pq")}}),
                ("clear_output", {"wait": of.random() < 0.5}),
                ("error", {"ename": "E", "evalue": "v", "traceback": []}),
            ]))
        place = of.randrange(len(messages) + 1)
        whole, first, again = Outputs(), Outputs(), Outputs()
        [whole.add(*each) for each in messages]
        [first.add(*each) for each in messages[:place]]
        [again.add(*each) for each in [*json.loads(json.dumps(list(first.messages()))), *messages[place:]]]
        assert again.result() == whole.result() and (again.count == whole.count or not place), seed


def limit():
    """Head and tail of endless output are kept, in a file of limited size."""
    journal = run()
    record = journal.live["m"]
    for n in range(250):
        say(journal, "stream", {"name": "stdout", "text": f"{n} " + "x" * 100_000 + "\n"})
        assert os.stat(os.path.join(journal.folder, record.name)).st_size <= 20_000_000
    text = "".join(each["text"] for each in journal.read(record).result())
    assert text.startswith("0 x") and "\n249 x" in text and "left out here" in text and len(text) < 20_000_000
    say(journal, "stream", {"name": "stdout", "text": "y" * 21_000_000 + "z"})
    assert "".join(each["text"] for each in journal.read(record).result()).endswith("yz")
    say(journal, "display_data", {"data": {"image/png": "A" * 9_000_000}})
    assert len(journal.read(record).result()) and record.file


def full_disk():
    """Recording stops with one line of the log; what there was counts where a notebook has less."""
    journal = run()
    say(journal, "stream", {"name": "stdout", "text": "one\n"})
    record = journal.live["m"]
    record.file.close()
    record.file = open("/dev/full", "wb", buffering=0)
    for _ in range(5):
        say(journal, "stream", {"name": "stdout", "text": "two\n"})
    say(journal, "status", {"execution_state": "idle"})
    assert len(warnings) == 1 and not journal.live, warnings
    def opened(text):
        outputs = [{"output_type": "stream", "name": "stdout", "text": text}]
        cell = {"id": "x", "cell_type": "code", "source": "c", "outputs": outputs}
        model = {"last_modified": datetime.datetime.fromtimestamp(1), "content": {"cells": [cell]}}
        journal.fill("n.ipynb", model)
        return cell["outputs"][0]["text"]
    assert (opened(""), opened("one\ntwo\nthree\n")) == ("one\n", "one\ntwo\nthree\n")


def spoilt_folder():
    """What is no record is left where it is; records that are spoilt are set aside."""
    folder = tempfile.mkdtemp()
    os.mkfifo(f"{folder}/1.jsonl")
    os.symlink("/dev/zero", f"{folder}/2.jsonl")
    os.mkdir(f"{folder}/3.jsonl")
    open(f"{folder}/4.jsonl", "w").write('{"path": "n", "cell": "x", "hash": "h", "run": "r"}\nspoilt\n')
    os.truncate(os.open(f"{folder}/5.jsonl", os.O_CREAT | os.O_RDWR), 10**11)
    journal = Journal(folder, log)
    assert [run.name for run in journal.of("n")] == ["4.jsonl"]
    journal.saved("n", [], 1)
    assert journal.of("n") == [] and all(name.endswith(".unreadable") for name in os.listdir(folder)), os.listdir(folder)


def cleared():
    """What a page that had shown all saves instead counts: outputs that were cleared, or changed by a later cell."""
    changed = [{"output_type": "stream", "name": "stdout", "text": "other"}]
    for heard, outputs in ((False, []), (False, changed), (True, []), (True, changed)):
        journal = run()
        say(journal, "stream", {"name": "stdout", "text": "secret"})
        say(journal, "status", {"execution_state": "idle"})
        page.berth_heard_at = time.time() + (1 if heard else -1000)
        journal.saved("n.ipynb", [{"id": "x", "outputs": outputs}], 1)
        assert len(journal.of("n.ipynb")) == (0 if heard else 1)


def half_a_line():
    """A record that JupyterLab did not end, in the middle of a line, is read up to there, also after a save."""
    journal = run()
    say(journal, "stream", {"name": "stdout", "text": "one"})
    record = journal.live["m"]
    record.file.write(b'{"kind":"stream","content":{"text":"' + b"x" * 500)
    later = Journal(journal.folder, log)
    for _ in range(2):
        [found] = later.of("n.ipynb")
        assert later.read(found).result()[0]["text"] == "one"
        later.saved("n.ipynb", [], 1)
    assert later.read(found).saved == 1 and not later.read(found).end


def threads():
    """What a thread prints after its cell is kept; a page that has shown more than was recorded keeps that."""
    journal = run()
    say(journal, "stream", {"name": "stdout", "text": "cell "})
    say(journal, "status", {"execution_state": "idle"})
    say(journal, "stream", {"name": "stdout", "text": "thread"})
    outputs = journal.read(journal.of("n.ipynb")[0])
    assert outputs.end and outputs.result()[0]["text"] == "cell thread"
    for count, kept in ((1, "cell thread more"), (None, "cell thread")):
        before = [{"output_type": "stream", "name": "stdout", "text": ["cell thread", " more"]}]
        cell = {"id": "x", "cell_type": "code", "source": "c", "outputs": before, "execution_count": count}
        assert merge([cell], {"x": (hash_of("c"), outputs.result(), 1, True)}) == ["x"]
        assert "".join(cell["outputs"][0]["text"]) == kept


def renames():
    """Records follow their notebook, also that of a cell that the kernel has not begun."""
    journal = run(path="a/n.ipynb")
    journal.request("k", page, "a/n.ipynb", {"msg_id": "q"}, {"cellId": "y"}, {"code": "c"})
    journal.renamed("/a", "/b")
    say(journal, "stream", {"name": "stdout", "text": "one"})
    say(journal, "execute_input", {"execution_count": 2}, "q")
    assert {run.cell for run in journal.of("b/n.ipynb")} == {run.cell for run in Journal(journal.folder, log).of("b/n.ipynb")} == {"x", "y"}
    assert journal.read(journal.runs[("b/n.ipynb", "x")]).result()[0]["text"] == "one"


def room():
    folder = tempfile.mkdtemp()
    for n in range(310):
        journal = run(cell=str(n), folder=folder) if n % 100 == 0 else journal
        journal.request("k", page, "n", {"msg_id": f"m{n}"}, {"cellId": str(n)}, {"code": ""})
        say(journal, "execute_input", {"execution_count": 1}, f"m{n}")
        say(journal, "status", {"execution_state": "idle"}, f"m{n}")
    names = os.listdir(folder)
    assert len(names) <= 301, len(names)


globals()[sys.argv[1]]()
