import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { lab, labEnvironment, pythonOf } from "./lab-command.ts";
import { prepareRuntime, readRuntime } from "./prepare-runtime.ts";

const root = new URL("../../../../", import.meta.url).pathname;
const runtimes = join(root, "node_modules", ".cache", "berth", "runtimes");
const budget: Readonly<Record<string, number>> = JSON.parse(
  readFileSync(join(root, "images/lab-imports.json"), "utf8"),
);

/** Starts JupyterLab up to where it would serve, and prints the names of its modules. */
const program = `import json, sys
program = {"__name__": "lab"}
exec(sys.argv[1], program)
program["preload"]()
preloaded = list(sys.modules)
from jupyter_server.serverapp import ServerApp
ServerApp.start_ioloop = lambda app: print(json.dumps({"preloaded": preloaded, "started": [name for name, module in sys.modules.items() if module]}))
program["main"](["--allow-root", "--ip=127.0.0.1", "--port=0"])`;

let imports: { readonly preloaded: readonly string[]; readonly started: readonly string[] };
let packages: string;
beforeAll(async () => {
  await prepareRuntime(runtimes, "jupyter", () => {});
  const runtime = await readRuntime(runtimes, "jupyter");
  if (!runtime) throw new Error("JupyterLab is not prepared");
  const home = mkdtempSync(join(tmpdir(), "berth-test-"));
  const env = labEnvironment(runtime, { home, tempFolder: home, token: "t", mark: "m", withoutSettings: false });
  const { stdout } = await promisify(execFile)(pythonOf(runtime), ["-I", "-c", program, lab], { env });
  imports = JSON.parse(stdout);
  rmSync(home, { recursive: true });
  const [major, minor] = runtime.python.version.split(".");
  packages = join(runtime.folder, "lib", `python${major}.${minor}`, "site-packages");
}, 300_000);

test("JupyterLab imports no more modules of any package than the budget has (G317)", () => {
  const counts = Map.groupBy(imports.started, (name) => name.split(".", 1)[0] ?? "");
  const grown = [...counts].flatMap(([name, { length }]) => {
    const isPackage = existsSync(join(packages, name));
    return isPackage && length > (budget[name] ?? 0) ? [`${name}: ${length} modules, budget ${budget[name] ?? 0}`] : [];
  });
  expect(grown).toEqual([]);
});

test("a forked JupyterLab finds everything imported", () => {
  expect(imports.started.filter((name) => !imports.preloaded.includes(name))).toEqual([]);
});
