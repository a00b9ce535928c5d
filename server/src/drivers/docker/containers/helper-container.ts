import { randomUUID } from "node:crypto";
import type { Container } from "dockerode";
import { DriverError } from "../../driver.ts";
import { engineErrorOf } from "../engine/engine.ts";
import { readFrames } from "./container-logs.ts";
import { createEphemeral, type EphemeralDeps, removeEphemeral } from "./ephemeral-container.ts";

/** A short look or work on an engine's machine that only a container there can do. */
export interface Helper {
  /** Of `sh`; its words are $1 and on. Ending with 0 or 1 is well: `du` and `tar` say so of what changed under them. */
  readonly script: string;
  readonly args?: readonly string[];
  /** Folders of the machine, as `/there:/inside:ro`; one that is missing is made by the engine. */
  readonly binds?: readonly string[];
  /** One folder, read only, that must be there. */
  readonly folder?: { readonly source: string; readonly target: string };
  /** What root inside may do beyond nothing. */
  readonly capabilities?: readonly string[];
  readonly devices?: readonly object[];
}

export interface HelperDeps extends EphemeralDeps {
  /** Any of our images that is there. */
  readonly image: () => Promise<string | undefined>;
}

/** As root without rights or network, and with a root of its own that cannot be written. */
export async function createHelper(
  parts: HelperDeps,
  errand: Helper & { readonly name: string; readonly stays?: boolean },
): Promise<Container> {
  const image = await parts.image();
  if (!image) throw new DriverError("no_image", "No image is built yet: npm run images");
  const { source: Source = "", target: Target = "" } = errand.folder ?? {};
  return await createEphemeral(parts, {
    name: errand.name,
    image,
    network: "none",
    User: "0:0",
    ...(errand.devices && { Env: [] }),
    WorkingDir: "/",
    Entrypoint: ["/bin/sh", "-c", `(${errand.script}); echo "ended $?" >&2`, "sh"],
    Cmd: [...(errand.args ?? [])],
    HostConfig: {
      Mounts: errand.folder ? [{ Type: "bind", Source, Target, ReadOnly: true }] : [],
      Binds: [...(errand.binds ?? [])],
      CapAdd: [...(errand.capabilities ?? [])],
      DeviceRequests: errand.devices,
      // What it says may be gigabytes.
      LogConfig: { Type: "none", Config: {} },
      ...(errand.stays && { AutoRemove: false }),
    },
  });
}

/**
 * What an errand writes. Nothing is left of it when it ends, is given up by its reader, or the signal aborts. Throws
 * `unavailable`, with its words, when it failed half-way, and what the signal does.
 */
export async function* runHelper(
  parts: HelperDeps,
  errand: Helper,
  abortSignal: AbortSignal,
): AsyncGenerator<Buffer, void> {
  abortSignal.throwIfAborted();
  const name = `errand-${randomUUID()}`;
  const container = await createHelper(parts, { ...errand, name });
  try {
    const output = await container.attach({ stream: true, stdout: true, stderr: true, abortSignal });
    // Else what breaks the line before it is read would break the server.
    output.on("error", () => {});
    await container.start({ abortSignal });
    let said = "";
    for await (const { kind, bytes } of readFrames(output as AsyncIterable<Buffer>)) {
      if (kind === "stdout") yield bytes;
      else said = `${said}${bytes}`.slice(-2_000);
    }
    abortSignal.throwIfAborted();
    if (/^ended [01]$/m.test(said)) return;
    throw new DriverError(
      "unavailable",
      `Work on ${parts.engine.displayName} failed: ${said.trim() || "it was cut short"}`,
    );
  } catch (error) {
    throw abortSignal.aborted ? error : parts.engine.explain(error);
  } finally {
    await removeEphemeral(parts.engine, name);
  }
}

/** All that it writes, as text: within the time of a verb, or until the signal. */
export async function helperOutput(parts: HelperDeps, errand: Helper, signal?: AbortSignal): Promise<string> {
  const read = async (abortSignal: AbortSignal) => {
    let text = "";
    for await (const bytes of runHelper(parts, errand, abortSignal)) text += bytes;
    return text;
  };
  return await (signal ? read(signal) : parts.engine.withTimeout(read));
}

/** Whether an engine refused an errand because its folder is not there. */
export function isFolderMissing(error: unknown): boolean {
  return (
    error instanceof DriverError && /bind source path does not exist/.test(engineErrorOf(error.cause)?.words ?? "")
  );
}
