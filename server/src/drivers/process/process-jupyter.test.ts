import { spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Driver } from "../driver.ts";
import { callLab, startReady, testSpec } from "../testing/drive-run.ts";
import { runInTerminal } from "../testing/in-terminal.ts";
import { jupyterSuite } from "../testing/jupyter.suite.ts";
import { openProcessMachine } from "../testing/process-machine.ts";

jupyterSuite("inside a run of the process driver", openProcessMachine);

let machine: Awaited<ReturnType<typeof openProcessMachine>>;
let driver: Driver;
beforeAll(async () => {
  machine = await openProcessMachine();
  driver = await machine.open();
  await driver.prepare("jupyter");
}, 300_000);
afterAll(() => machine.close());

const own = ".local/python";
const packages = "$HOME/.local/share/jupyter/labextensions";

/** Entries that do not affect each other are spoilt in one home. */
test.each([
  [
    "FIFOs in the places of pyvenv.cfg, of programs and of Jupyter's folders",
    `mkdir -p ${own}/bin .local/share; mkfifo ${own}/pyvenv.cfg ${own}/bin/python ${own}/bin/python3 ${own}/bin/pip
     mkfifo .jupyter .ipython .local/share/jupyter`,
  ],
  [
    "a folder in the place of pyvenv.cfg, links to a runtime that is gone, an extension that waits when it is read",
    `mkdir -p ${own}/bin ${own}/pyvenv.cfg/kept "${packages}/a"; ln -s /gone/jupyter/bin/python ${own}/bin/python
     mkfifo "${packages}/a/package.json"`,
  ],
  [
    "an endless pyvenv.cfg, a file in the place of the packages, configuration that nobody can read to its end",
    `mkdir -p ${own} .jupyter/lab/user-settings .jupyter/labconfig .jupyter/jupyter_server_config.d
     ln -s /dev/zero ${own}/pyvenv.cfg; echo mine > ${own}/lib
     for name in jupyter_config jupyter_server_config jupyter_lab_config labconfig/page_config; do
       mkfifo .jupyter/$name.json .jupyter/$name.py; done
     mkfifo .jupyter/jupyter_server_config.d/a.json .jupyter/labconfig/default_setting_overrides.json .jupyter/migrated`,
  ],
  [
    "a pyvenv.cfg of 100 GB, settings that wait when they are read, extensions that lead to themselves",
    `mkdir -p ${own} .jupyter/lab "${packages}/a"; truncate -s 100G ${own}/pyvenv.cfg
     mkfifo .jupyter/lab/user-settings .jupyter/lab/workspaces
     for name in b c d; do ln -s . "${packages}/a/$name"; ln -s / "${packages}/$name"; done`,
  ],
  ["a FIFO in the place of .local", "mkfifo .local"],
  [
    "a home and folders that are closed to their owner",
    `mkdir -p ${own}/lib .jupyter/lab .ipython; chmod 0 ${own}/lib ${own} .local .jupyter .ipython .`,
  ],
])("JupyterLab answers with %s", async (_, spoil) => {
  const wanted = testSpec();
  const home = join(machine.directory, "homes", wanted.home);
  await mkdir(home, { recursive: true, mode: 0o700 });
  await writeFile(join(home, "kept.txt"), "kept");
  expect(spawnSync("sh", ["-ec", spoil], { cwd: home, env: { ...process.env, HOME: home } }).stderr.toString()).toBe(
    "",
  );
  onTestFinished(() => driver.stop(wanted.id, 0));
  await startReady(driver, wanted);
  expect(await callLab(driver, wanted, "GET", "/lab", 15_000)).toMatchObject({ status: 200 });
  expect(await callLab(driver, wanted, "GET", "/api/contents/kept.txt", 15_000)).toMatchObject({ status: 200 });
  const look = "cat ~/kept.txt; python -c 'import sys; print(sys.prefix)'";
  expect(await runInTerminal(driver, wanted, look)).toMatch(/\nkept\S+\/\.local\/python\n/);
});
