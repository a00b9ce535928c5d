import { randomUUID } from "node:crypto";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Container } from "dockerode";
import { imagesCommand } from "../../../text/operator-command.ts";
import { DriverError } from "../../driver.ts";
import { engineErrorOf } from "../engine/engine-errors.ts";
import { readFrames } from "../engine/read-stream.ts";
import { createEphemeral, type EphemeralDeps, removeEphemeral } from "./ephemeral-container.ts";

/** A short task on the engine's machine, which this process can only reach through a container. */
export interface Helper {
  /** For `sh`, with `args` as $1 and on. Exit codes 0 and 1 are success: `du` and `tar` return 1 when files change under them. */
  readonly script: string;
  readonly args?: readonly string[];
  /** Folders of the machine, as `/there:/inside:ro`; the engine makes one that is missing. */
  readonly binds?: readonly string[];
  /** One folder, read only unless it is said, that must exist. */
  readonly folder?: { readonly source: string; readonly target: string; readonly writable?: true };
  /** A number; root by default. */
  readonly user?: number;
  /** Its stdin. The script has to know where it ends: the connection stays open for its output. */
  readonly input?: AsyncIterable<Uint8Array>;
  /** Added capabilities; none by default. */
  readonly capabilities?: readonly string[];
  readonly devices?: readonly object[];
}

export interface HelperDeps extends EphemeralDeps {
  /** Any of our images on that engine. */
  readonly image: () => Promise<string | undefined>;
}

/** Without capabilities, network or a writable root file system. */
export async function createHelper(
  deps: HelperDeps,
  helper: Helper & { readonly name: string; readonly stays?: boolean },
): Promise<Container> {
  const image = await deps.image();
  if (!image) throw new DriverError("no_image", `No image is built yet: ${imagesCommand()}`);
  const { source: Source = "", target: Target = "", writable = false } = helper.folder ?? {};
  const user = helper.user ?? 0;
  return await createEphemeral(deps, {
    name: helper.name,
    image,
    network: "none",
    User: `${user}:${user}`,
    ...(helper.input && { OpenStdin: true, StdinOnce: true }),
    ...(helper.devices && { Env: [] }),
    WorkingDir: "/",
    Entrypoint: ["/bin/sh", "-c", `(${helper.script}); echo "ended $?" >&2`, "sh"],
    Cmd: [...(helper.args ?? [])],
    HostConfig: {
      Mounts: helper.folder ? [{ Type: "bind", Source, Target, ReadOnly: !writable }] : [],
      Binds: [...(helper.binds ?? [])],
      CapAdd: [...(helper.capabilities ?? [])],
      DeviceRequests: helper.devices,
      // Its output may be gigabytes.
      LogConfig: { Type: "none", Config: {} },
      ...(helper.stays && { AutoRemove: false }),
    },
  });
}

/**
 * Runs a helper container and returns its stdout. The container is removed when it ends, when its reader stops, or when the
 * signal aborts. Throws `unavailable`, with its stderr, when the script failed or was cut short, and the signal's reason.
 */
export async function* runHelper(
  deps: HelperDeps,
  helper: Helper,
  abortSignal: AbortSignal,
): AsyncGenerator<Buffer, void> {
  abortSignal.throwIfAborted();
  const name = `helper-${randomUUID()}`;
  const container = await createHelper(deps, { ...helper, name });
  try {
    const streams = { stream: true, stdout: true, stderr: true };
    const input = helper.input && { stdin: true, hijack: true };
    const output = await container.attach({ ...streams, ...input, abortSignal });
    // Without a listener, a connection that breaks before it is read would end this process.
    output.on("error", () => {});
    await container.start({ abortSignal });
    if (helper.input) send(helper.input, output as Duplex, abortSignal);
    let stderr = "";
    for await (const { kind, bytes } of readFrames(output as AsyncIterable<Buffer>)) {
      if (kind === "stdout") yield bytes;
      else stderr = `${stderr}${bytes}`.slice(-2_000);
    }
    abortSignal.throwIfAborted();
    if (/^ended [01]$/m.test(stderr)) return;
    const reason = stderr.trim() || "it was cut short";
    throw new DriverError("unavailable", `Work on ${deps.engine.displayName} failed: ${reason}`);
  } catch (error) {
    throw abortSignal.aborted ? error : deps.engine.explain(error);
  } finally {
    await removeEphemeral(deps.engine, name);
  }
}

/** A failure of the input ends the output with it; where the script ends before its input, the script says why. */
function send(input: AsyncIterable<Uint8Array>, output: Duplex, abortSignal: AbortSignal): void {
  const cut = (error: Error) => void output.destroy(error);
  // A connection that was taken over is no longer bound to the signal of its request.
  const end = () => cut(abortSignal.reason);
  abortSignal.addEventListener("abort", end);
  output.once("close", () => abortSignal.removeEventListener("abort", end));
  pipeline(input, output, { end: false }).catch(cut);
}

/** All of its stdout as text, within the engine's timeout or, where one is given, until the signal. */
export async function helperOutput(deps: HelperDeps, helper: Helper, signal?: AbortSignal): Promise<string> {
  const read = async (abortSignal: AbortSignal) => {
    let text = "";
    for await (const bytes of runHelper(deps, helper, abortSignal)) text += bytes;
    return text;
  };
  return await (signal ? read(signal) : deps.engine.withTimeout(read));
}

/** Whether the engine refused a helper because its folder does not exist. */
export function isFolderMissing(error: unknown): boolean {
  return error instanceof DriverError && engineErrorOf(error.cause)?.kind === "no_mount_source";
}
