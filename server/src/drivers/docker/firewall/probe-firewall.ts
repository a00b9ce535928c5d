import { randomUUID } from "node:crypto";
import { text } from "node:stream/consumers";
import { networkName } from "../containers/ensure-network.ts";
import { createEphemeral, type EphemeralDeps, removeEphemeral } from "../containers/ephemeral-container.ts";

export interface ProbeDeps extends EphemeralDeps {
  /** Any of our images: what is needed is a Python. */
  readonly image: string;
  /** The machine's own addresses, and one port of it that answers. */
  readonly addresses: readonly string[];
  readonly port: number;
  readonly signal: AbortSignal;
}

interface Target {
  readonly what: string;
  readonly host: string;
  readonly port: number;
}

/** A refusal is an answer too: it came from where nothing should come from. */
const client = `import json, socket, sys
from concurrent.futures import ThreadPoolExecutor
def answers(target):
    with socket.socket() as attempt:
        attempt.settimeout(1.5)
        try:
            attempt.connect((target["host"], target["port"]))
        except ConnectionRefusedError:
            pass
        except OSError:
            return False
    return True
targets = json.loads(sys.argv[1])
with ThreadPoolExecutor(len(targets)) as pool:
    print("open:", json.dumps([target for target, hole in zip(targets, pool.map(answers, targets)) if hole]))`;

const neighbour = `import socket, time
with socket.create_server(("", 8888)):
    time.sleep(30)`;

/**
 * Looks from inside a run at what no run may reach, with a second run beside it. Answers what is open, in words; empty is
 * well. Takes 2 s, and leaves nothing behind, nor does one that was cut short. Throws what the engine says when a run
 * cannot be started at all, and what the signal does.
 */
export async function probeFirewall(parts: ProbeDeps): Promise<readonly string[]> {
  const { engine, install, signal } = parts;
  await using ended = new AsyncDisposableStack();
  const beside = await create(parts, "neighbour", ["-c", neighbour], ended);
  const { NetworkSettings } = await engine.withTimeout(async (abortSignal) => {
    await beside.start({ abortSignal });
    return await beside.inspect({ abortSignal });
  }, signal);
  const { IPAddress = "", Gateway = "" } = NetworkSettings.Networks[networkName(install)] ?? {};
  const targets: Target[] = [
    { what: "another environment", host: IPAddress, port: 8888 },
    ...[Gateway, ...parts.addresses].map((host) => ({ what: "this machine", host, port: parts.port })),
    { what: "the provider's metadata", host: "169.254.169.254", port: 80 },
  ];
  const from = await create(parts, "client", ["-c", client, JSON.stringify(targets)], ended);
  const { said, code } = await engine.withTimeout(async (abortSignal) => {
    const output = await from.attach({ stream: true, stdout: true, stderr: true, abortSignal });
    // Else what breaks the line before it is read would break the server.
    output.on("error", () => {});
    // Asked before the start: it is gone with its end.
    const ended: Promise<number | undefined> = from.wait({ condition: "next-exit", abortSignal }).then(
      ({ StatusCode }) => StatusCode,
      () => undefined,
    );
    await from.start({ abortSignal });
    return { said: (await text(output)).trim(), code: await ended };
  }, signal);
  if (!said.startsWith("open:")) {
    const reason = said || `the container that looks ended with exit code ${code ?? "unknown"} and said nothing`;
    throw new Error(`The wall could not be looked at: ${reason}`);
  }
  const open: Target[] = JSON.parse(said.slice("open:".length));
  return open.map(({ what, host, port }) => `an environment reaches ${what} at ${host}:${port}`);
}

async function create(parts: ProbeDeps, role: string, command: readonly string[], ended: AsyncDisposableStack) {
  const name = `probe-${role}-${randomUUID()}`;
  const container = await createEphemeral(parts, {
    name,
    image: parts.image,
    network: networkName(parts.install),
    // A terminal's output comes as it is, not in frames.
    Tty: true,
    Entrypoint: ["/usr/bin/python3"],
    Cmd: [...command],
  });
  ended.defer(() => removeEphemeral(parts.engine, name));
  return container;
}
