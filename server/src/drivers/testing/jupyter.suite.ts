import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Driver, Spec } from "../driver.ts";
import { callLab, startReady, type TestMachine, testSpec } from "./drive-run.ts";
import { runInTerminal } from "./in-terminal.ts";

const wheel = `
import zipfile
info = "harbour-9.dist-info"
with zipfile.ZipFile("harbour-9-py3-none-any.whl", "w") as archive:
    archive.writestr("harbour/__init__.py", "print('harbour', 9)")
    archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: harbour\\nVersion: 9\\n")
    archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    archive.writestr(f"{info}/RECORD", "")
`;

/** An extension of a page as `pip install` writes it, beside unreadable ones. */
const extensions = `
import json, os, pathlib
place = pathlib.Path.home() / ".local/python/share/jupyter/labextensions"
for name in ("sound", "@org/sound", "nameless", "broken", "waiting", "endless"):
    (place / name / "static").mkdir(parents=True)
package = {"name": "sound", "version": "1", "jupyterlab": {"_build": {"load": "static/remoteEntry.js"}}}
(place / "sound/package.json").write_text(json.dumps(package))
(place / "@org/sound/package.json").write_text(json.dumps({**package, "name": "@org/sound"}))
(place / "nameless/package.json").write_text("{}")
(place / "broken/package.json").write_text("{")
os.mkfifo(place / "waiting/package.json")
os.symlink("/dev/zero", place / "endless/package.json")
for loop in ("a", "b"):
    os.symlink(place, place / loop)
`;

/** Everything that Jupyter, IPython and a start by name would run; each of them leaves a mark. */
const configuration = `
import json, pathlib
home = pathlib.Path.home()
says = "import pathlib; pathlib.Path.home().joinpath('ran-by-lab').touch()\\n"
for name in ("jupyter_config", "jupyter_server_config", "jupyter_lab_config", "jupyter_notebook_config"):
    for folder in (".jupyter", ".local/etc/jupyter", "."):
        (home / folder).mkdir(parents=True, exist_ok=True)
        (home / folder / f"{name}.py").write_text(says)
settings = home / ".jupyter/lab/user-settings/@jupyterlab/apputils-extension"
settings.mkdir(parents=True)
(settings / "themes.jupyterlab-settings").write_text('{"theme": "JupyterLab Dark"}')
(home / ".jupyter/jupyter_server_config.json").write_text(json.dumps({"ServerApp": {"base_url": "/elsewhere/"}}))
for program in ("uname", "sh", "cat", "tini", "jupyter-server---no-browser", "jupyter-lab", "nvidia-smi"):
    for folder in (".local/bin", ".local/python/bin"):
        (home / folder).mkdir(parents=True, exist_ok=True)
        (home / folder / program).write_text("#!/bin/bash\\n: > ~/ran-by-name\\n")
        (home / folder / program).chmod(0o755)
`;

/** The contents of a run, the same on every driver that runs JupyterLab (G105, G106). */
export function jupyterSuite(
  name: string,
  openMachine: () => Promise<Omit<TestMachine, "crash">>,
  absent?: string,
): void {
  describe.skipIf(absent)(absent ? `${name}, skipped because ${absent}` : name, () => {
    let machine: Omit<TestMachine, "crash">;
    let driver: Driver;
    beforeAll(async () => {
      machine = await openMachine();
      driver = await machine.open();
      await driver.prepare("jupyter");
    }, 300_000);
    afterAll(() => machine.close());

    const begin = async (wanted: Spec = testSpec()) => {
      onTestFinished(() => driver.stop(wanted.id, 0));
      return await startReady(driver, wanted);
    };
    const again = async (before: Spec, changes: Partial<Spec> = {}) => {
      await driver.stop(before.id, 5_000);
      return await begin({ ...before, generation: before.generation + 1, ...changes });
    };
    const inside = (wanted: Spec, line: string) => runInTerminal(driver, wanted, line);
    const script = async (wanted: Spec, text: string) => {
      await callLab(driver, wanted, "PUT", "/api/contents/script.py", 5_000, text);
      expect(await inside(wanted, "python3 ~/script.py && echo went well")).toContain("\nwent well\n");
    };

    test("a terminal's python and pip are the home's, ~/.bashrc is read, and what pip installs stays", async () => {
      const wanted = await begin();
      const look = `python -c 'import sys; print("prefix", sys.prefix)'; command -v pip; echo "rc $FROM_RC"`;
      expect(await inside(wanted, `echo FROM_RC=read > ~/.bashrc; ${look}`)).toMatch(
        /\nprefix (\S+)\/\.local\/python\n\1\/\.local\/python\/bin\/pip\nrc \n/,
      );
      await script(wanted, wheel);
      const install = "pip install -q --no-index ~/harbour-9-py3-none-any.whl && python -c 'import harbour'";
      expect(await inside(wanted, `cd; python script.py; ${install}`)).toContain("\nharbour 9\n");
      const later = await again(wanted);
      expect(await inside(later, `${look}; python -c 'import harbour'`)).toMatch(
        /\/\.local\/python\n[\s\S]*\nrc read\nharbour 9\n/,
      );
    });

    test("extensions of the home's packages are on the page; unreadable ones are left out", async () => {
      const wanted = await begin();
      await script(wanted, extensions);
      for (const run of [wanted, await again(wanted)]) {
        const { status, body } = await callLab(driver, run, "GET", "/lab", 15_000);
        const config = /<script id="jupyter-config-data"[^>]*>([\s\S]*?)<\/script>/.exec(String(body))?.[1] ?? "{}";
        const { federated_extensions: found } = JSON.parse(config) as { federated_extensions: { name: string }[] };
        const names = found.map((extension) => extension.name).toSorted();
        expect({ status, names }).toEqual({
          status: 200,
          names: [
            "@berth/bar",
            "@berth/outputs",
            "@jupyter-widgets/jupyterlab-manager",
            "@org/sound",
            "jupyterlab_pygments",
            "sound",
          ],
        });
      }
    });

    test("nothing of the home is run or read as configuration before JupyterLab answers; settings of the page stay", async () => {
      const wanted = await begin();
      const themes = "/lab/api/settings/@jupyterlab/apputils-extension:themes";
      await script(wanted, configuration);
      const later = await again(wanted);
      expect(await callLab(driver, later, "GET", "/lab", 15_000)).toMatchObject({ status: 200 });
      const { body } = await callLab(driver, later, "GET", "/api/contents/");
      const names = (body as { content: { name: string }[] }).content.map((entry) => entry.name);
      expect(names.filter((each) => each.startsWith("ran-"))).toEqual([]);
      expect(await callLab(driver, later, "GET", themes)).toMatchObject({
        body: { settings: { theme: "JupyterLab Dark" } },
      });
      const bare = await again(later, { withoutSettings: true });
      expect(await callLab(driver, bare, "GET", themes)).toMatchObject({ body: { settings: {} } });
      expect(await callLab(driver, bare, "GET", "/api/contents/script.py")).toMatchObject({ status: 200 });
    });

    test("without settings the home's changes to Python and the shell have no effect, and the next start has them again", async () => {
      const wanted = await begin();
      const spoil = `cd ~/.local/python/bin; rm python; printf '#!/bin/sh\\necho spoilt' > python; chmod +x python`;
      await inside(wanted, `${spoil}; echo 'echo from bashrc' > ~/.bashrc`);
      const look = "python -c 'import sys; print(sys.prefix)'";
      // What is typed before the shell is there stands above all that it prints.
      expect(await inside(wanted, look)).toMatch(/^from bashrc\n[\s\S]*\nspoilt\n/m);
      const bare = await again(wanted, { withoutSettings: true });
      const seen = await inside(bare, look);
      expect(seen).toMatch(/\n\/\S+\/jupyter\/python\n/);
      expect(seen).not.toContain("from bashrc");
      const { withoutSettings, ...usual } = bare;
      expect(await inside(await again(usual), look)).toContain("\nspoilt\n");
    });
  });
}
