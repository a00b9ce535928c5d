import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { checkEngine } from "./check-engine.ts";
import { openEngine } from "./engine/engine.ts";

/** The two answers of an engine that the check reads; the real one of a machine is seldom too old. */
async function engineOf(changes: { ApiVersion?: string; OSType?: string; LiveRestoreEnabled?: boolean }) {
  const folder = mkdtempSync(join(tmpdir(), "berth-check-"));
  const socketPath = join(folder, "docker.sock");
  const facts = { ApiVersion: "1.41", OSType: "linux", LiveRestoreEnabled: true, NCPU: 2, ...changes };
  const server = createServer((_, reply) => reply.end(JSON.stringify(facts)));
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  onTestFinished(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  return { socketPath };
}

const onLoopback = { needsLiveRestore: false };

test.for(["1.41", "1.44", "2.0"])("an engine of API %s with live-restore has no warnings", async (ApiVersion) => {
  expect(await checkEngine(await engineOf({ ApiVersion }), { needsLiveRestore: true })).toEqual([]);
});

test.for([
  [{ ApiVersion: "1.40" }, /too old \(API 1.40\): 20.10 \(API 1.41\) or later/],
  [{ OSType: "windows" }, /runs windows containers: Linux ones are needed/],
] as const)("%o is refused in one sentence", async ([changes, words]) => {
  await expect(checkEngine(await engineOf(changes), onLoopback)).rejects.toThrow(words);
});

test("a missing live-restore is a warning on one's own machine, a refusal in public, both with the remedy", async () => {
  const engine = await engineOf({ LiveRestoreEnabled: false });
  const words = expect.stringMatching(/every run ends.*"live-restore": true.*daemon.json/);
  expect(await checkEngine(engine, onLoopback)).toEqual([words]);
  await expect(checkEngine(engine, { needsLiveRestore: true })).rejects.toMatchObject({ message: words });
});

test("a missing permission names the group", () => {
  const refused = Object.assign(new Error("connect EACCES"), { code: "EACCES" });
  expect(openEngine({ socketPath: "/run/docker.sock" }).explain(refused)).toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("add the user to the group docker"),
  });
});
