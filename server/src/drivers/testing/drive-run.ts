import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import { Parser } from "tar";
import { expect } from "vitest";
import type { Driver, Endpoint, Observed, Spec } from "../driver.ts";

/** A machine that outlives the driver objects on it. */
export interface TestMachine {
  /** A new driver object, as after a restart of the server. */
  open(install?: string): Promise<Driver>;
  /** Ends the run from outside, as a crash does. */
  crash(driver: Driver, id: string): Promise<void>;
  close(): Promise<void>;
}

/** What a part of the contract is tested with. */
export interface Given {
  readonly machine: TestMachine;
  readonly driver: Driver;
  readonly begin: (wanted?: Spec) => Promise<Spec>;
}

/** Several test runs may share one machine and its names. */
const mark = randomBytes(4).toString("hex");
let counter = 0;

export function testSpec(changes: Partial<Spec> = {}): Spec {
  counter += 1;
  const limits = { cpus: 1, memoryMb: 1024, shmMb: 64, pids: 100, diskGb: 1 };
  const image = "jupyter";
  const token = `token-${counter}`;
  return {
    id: `${mark}-${counter}`,
    generation: 1,
    image,
    token,
    home: `home-${counter}`,
    gpus: ["cpu-1"],
    limits,
    ...changes,
  };
}

/** Starts a run and waits for JupyterLab: `running` only says that the process runs. */
export async function startReady(driver: Driver, wanted: Spec): Promise<Spec> {
  await driver.start(wanted);
  await waitForState(driver, wanted.id, "running");
  await waitUntilReady(driver, wanted);
  return wanted;
}

/** Paths and texts of the plain files in an archive, unpacked by another implementation than ours. */
export async function filesIn(archive: AsyncIterable<Uint8Array>): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const parser = new Parser({
    onReadEntry(entry) {
      const chunks: Buffer[] = [];
      entry.on("data", (chunk) => chunks.push(chunk));
      entry.on("end", () => {
        if (entry.type === "File") files.set(entry.path, Buffer.concat(chunks).toString());
      });
    },
  });
  const ended = once(parser, "end");
  for await (const chunk of archive) parser.write(Buffer.from(chunk));
  parser.end();
  await ended;
  return files;
}

/** A pod needs a node, a volume and a network first. */
const startLimitMs = 45_000;

export async function waitForState(driver: Driver, id: string, state: Observed["state"]): Promise<Observed> {
  await expect.poll(async () => (await driver.observe(id)).state, { timeout: startLimitMs, interval: 20 }).toBe(state);
  return driver.observe(id);
}

export async function waitUntilReady(driver: Driver, wanted: Spec): Promise<void> {
  const status = () => callLab(driver, wanted, "GET", "/api").then((answer) => answer.status);
  await expect.poll(() => status().catch(() => 0), { timeout: startLimitMs, interval: 20 }).toBe(200);
}

/** One request over the run's own endpoint. Throws "no response" after `timeoutMs`. A PUT sends text as a file's content. */
export async function callLab(
  driver: Driver,
  wanted: Spec,
  method: string,
  path: string,
  timeoutMs = 5_000,
  text?: string,
) {
  const seen = await driver.observe(wanted.id);
  if (seen.state !== "running" && seen.state !== "paused") throw new Error(`it is ${seen.state}`);
  const headers = {
    host: "name.localhost",
    authorization: `token ${wanted.token}`,
    "content-type": "application/json",
  };
  const sent = request({ ...target(seen.endpoint), method, path, headers });
  const timer = setTimeout(() => sent.destroy(new Error("no response")), timeoutMs);
  sent.end(text === undefined ? "" : JSON.stringify({ type: "file", format: "text", content: text }));
  try {
    const [response] = await once(sent, "response");
    let body = "";
    for await (const chunk of response) body += chunk;
    return { status: response.statusCode as number, body: parsed(body) };
  } finally {
    clearTimeout(timer);
  }
}

/** Something that only lives in the run's memory: a terminal that JupyterLab holds open. */
export async function remember(driver: Driver, wanted: Spec): Promise<unknown> {
  await callLab(driver, wanted, "POST", "/api/terminals");
  const names = await remembered(driver, wanted);
  expect(names).toHaveLength(1);
  return names;
}

export async function remembered(driver: Driver, wanted: Spec): Promise<unknown> {
  const { body } = await callLab(driver, wanted, "GET", "/api/terminals");
  return (body as { name: string }[]).map(({ name }) => name);
}

function target(endpoint: Endpoint) {
  return "socketPath" in endpoint ? { socketPath: endpoint.socketPath } : { host: endpoint.host, port: endpoint.port };
}

/** JupyterLab calls some plain texts JSON too. */
function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
