import { randomUUID } from "node:crypto";
import { containerBody, label, scratch } from "./docker-body.ts";
import { type Engine, orDone, refusalOf } from "./docker-engine.ts";
import { framesOf } from "./docker-streams.ts";
import { DriverError } from "./driver.ts";

/** A short look or work on an engine's machine that only a container there can do. */
export interface Errand {
  /** Of `sh`; its words are $1 and on. Ending with 0 or 1 is well: `du` and `tar` say so of what changed under them. */
  readonly script: string;
  readonly words?: readonly string[];
  /** Folders of the machine, as `/there:/inside:ro`; one that is missing is made by the engine. */
  readonly binds?: readonly string[];
  /** One folder, read only, that must be there. */
  readonly folder?: { readonly source: string; readonly target: string };
  /** What root inside may do beyond nothing. */
  readonly capabilities?: readonly string[];
  readonly devices?: readonly object[];
}

export interface ErrandParts {
  readonly engine: Engine;
  readonly install: string;
  /** Any of our images that is there. */
  readonly image: () => Promise<string | undefined>;
}

/** As root without rights or network, and with a root of its own that cannot be written. */
export async function createHelper(
  parts: ErrandParts,
  errand: Errand & { readonly name: string; readonly stays?: boolean },
  abortSignal: AbortSignal,
) {
  const { engine, install } = parts;
  const image = await parts.image();
  if (!image) throw new DriverError("no_image", "No image is built yet: npm run images");
  const limits = { cpus: 1, memoryMb: 256, shmMb: 16, pids: 32, diskGb: 1 };
  const spec = { id: "helper", generation: 1, image, token: "", home: "", gpus: [], limits };
  const { HostConfig, ...body } = containerBody(spec, { ...scratch, install, image, home: "", network: "none" });
  const { source: Source = "", target: Target = "" } = errand.folder ?? {};
  const request = {
    ...body,
    User: "0:0",
    Env: errand.devices ? [] : body.Env,
    WorkingDir: "/",
    Entrypoint: ["/bin/sh", "-c", `(${errand.script}); echo "ended $?" >&2`, "sh"],
    Cmd: [...(errand.words ?? [])],
    Labels: { [label.install]: install },
    HostConfig: {
      ...HostConfig,
      Mounts: errand.folder ? [{ Type: "bind", Source, Target, ReadOnly: true }] : [],
      Binds: [...(errand.binds ?? [])],
      CapAdd: [...(errand.capabilities ?? [])],
      DeviceRequests: errand.devices,
      // What it says may be gigabytes.
      LogConfig: { Type: "none", Config: {} },
      AutoRemove: !errand.stays,
    },
  };
  // Apart from each other: dockerode otherwise writes the whole body into the address too.
  const asked = { _query: { name: errand.name }, _body: request, abortSignal };
  return await engine.docker.createContainer(asked as object);
}

/**
 * What an errand writes. Nothing is left of it when it ends, is given up by its reader, or the signal aborts. Throws
 * `unavailable`, with its words, when it failed half-way.
 */
export async function* runErrand(
  parts: ErrandParts,
  errand: Errand,
  abortSignal: AbortSignal,
): AsyncGenerator<Buffer, void> {
  abortSignal.throwIfAborted();
  const container = await created(parts, errand);
  try {
    const output = await container.attach({ stream: true, stdout: true, stderr: true, abortSignal });
    // Else what breaks the line before it is read would break the server.
    output.on("error", () => {});
    await container.start({ abortSignal });
    let said = "";
    for await (const { kind, bytes } of framesOf(output as AsyncIterable<Buffer>)) {
      if (kind === "stdout") yield bytes;
      else said = `${said}${bytes}`.slice(-2_000);
    }
    abortSignal.throwIfAborted();
    if (/^ended [01]$/m.test(said)) return;
    throw new DriverError("unavailable", `Work on ${parts.engine.place} failed: ${said.trim() || "it was cut short"}`);
  } finally {
    await parts.engine
      .verb((limit) => orDone(container.remove({ force: true, abortSignal: limit }), 409))
      .catch(() => {});
  }
}

/** Not given up half-way with its caller: what the engine makes after that would stay for ever. */
async function created(parts: ErrandParts, errand: Errand) {
  const { engine } = parts;
  const name = `helper-${randomUUID()}`;
  try {
    return await engine.verb((limit) => createHelper(parts, { ...errand, name }, limit));
  } catch (error) {
    // It may have been made nevertheless, and only its answer lost.
    await engine
      .verb((limit) => orDone(engine.docker.getContainer(name).remove({ abortSignal: limit })))
      .catch(() => {});
    throw error;
  }
}

/** All that it writes, as text. Throws what `runErrand` throws, in words for people. */
export async function errandText(parts: ErrandParts, errand: Errand): Promise<string> {
  return await parts.engine.verb(async (abortSignal) => {
    let text = "";
    for await (const bytes of runErrand(parts, errand, abortSignal)) text += bytes;
    return text;
  });
}

/** Whether an engine refused an errand because its folder is not there. */
export function isFolderMissing(error: unknown): boolean {
  return error instanceof DriverError && /bind source path does not exist/.test(refusalOf(error.cause)?.words ?? "");
}
