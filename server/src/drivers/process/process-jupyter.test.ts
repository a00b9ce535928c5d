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

test.each([
  ["a FIFO in the place of pyvenv.cfg", `mkdir -p ${own}; mkfifo ${own}/pyvenv.cfg`],
  ["a folder in the place of pyvenv.cfg", `mkdir -p ${own}/pyvenv.cfg/kept`],
  ["a link to an endless file in the place of pyvenv.cfg", `mkdir -p ${own}; ln -s /dev/zero ${own}/pyvenv.cfg`],
  ["a file of 100 GB in the place of pyvenv.cfg", `mkdir -p ${own}; truncate -s 100G ${own}/pyvenv.cfg`],
  ["FIFOs in the places of programs", `mkdir -p ${own}/bin; cd ${own}/bin; mkfifo python python3 pip`],
  ["links to a runtime that is gone", `mkdir -p ${own}/bin; ln -s /gone/jupyter/bin/python ${own}/bin/python`],
  ["a file in the place of the folder for packages", `mkdir -p ${own}; echo mine > ${own}/lib`],
  ["a FIFO in the place of .local", "mkfifo .local"],
  ["FIFOs in the places of Jupyter's folders", "mkdir -p .local/share; mkfifo .jupyter .ipython .local/share/jupyter"],
  [
    "folders that are closed to their owner",
    `mkdir -p ${own}/lib .jupyter/lab .ipython; chmod 0 ${own}/lib ${own} .local .jupyter .ipython`,
  ],
  ["a home that is closed to its owner", "chmod 0 ."],
  [
    "configuration and settings that nobody can read to their end",
    `mkdir -p .jupyter/lab/user-settings .jupyter/labconfig .jupyter/jupyter_server_config.d
     for name in jupyter_config jupyter_server_config jupyter_lab_config labconfig/page_config; do
       mkfifo .jupyter/$name.json .jupyter/$name.py; done
     mkfifo .jupyter/jupyter_server_config.d/a.json .jupyter/labconfig/default_setting_overrides.json .jupyter/migrated`,
  ],
  [
    "a setting that waits when it is read",
    "mkdir -p .jupyter/lab; mkfifo .jupyter/lab/user-settings .jupyter/lab/workspaces",
  ],
  ["an extension that waits when it is read", `mkdir -p "${packages}/a"; mkfifo "${packages}/a/package.json"`],
  [
    "extensions that lead to themselves",
    `mkdir -p "${packages}/a"; for name in b c d; do ln -s . "${packages}/a/$name"; ln -s / "${packages}/$name"; done`,
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
