import { randomUUID } from "node:crypto";
import { text } from "node:stream/consumers";
import type { Container } from "dockerode";
import { networkName } from "../containers/ensure-network.ts";
import { createEphemeral, type EphemeralDeps, removeEphemeral } from "../containers/ephemeral-container.ts";

export interface ProbeDeps extends EphemeralDeps {
  /** Any of our images: the probe needs its Python. */
  readonly image: string;
  /** The machine's own addresses, and one of its ports that accepts connections. */
  readonly addresses: readonly string[];
  readonly port: number;
  readonly signal: AbortSignal;
}

interface Target {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

/** A refused connection is a leak too: the packet reached a place that it should not reach. */
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
    print("open:", json.dumps([target for target, leak in zip(targets, pool.map(answers, targets)) if leak]))`;

const neighbour = `import socket, time
with socket.create_server(("", 8888)):
    time.sleep(30)`;

/**
 * Tries to connect from a container to what no run may reach, with a second container as a neighbour. Returns the leaks, one
 * sentence each. Takes 2 s and leaves nothing, also when it is cut short. Throws the engine's error when a container
 * cannot be started, and the signal's reason.
 */
export async function probeFirewall(deps: ProbeDeps): Promise<readonly string[]> {
  await using containers = new AsyncDisposableStack();
  const targets = await findTargets(deps, await create(deps, "neighbour", ["-c", neighbour], containers));
  const prober = await create(deps, "client", ["-c", client, JSON.stringify(targets)], containers);
  const { output, exitCode } = await runToEnd(deps, prober);
  if (!output.startsWith("open:")) {
    const reason = output || `the probe's container ended with exit code ${exitCode ?? "unknown"} and printed nothing`;
    throw new Error(`The firewall could not be probed: ${reason}`);
  }
  const open: Target[] = JSON.parse(output.slice("open:".length));
  return open.map(({ name, host, port }) => `an environment reaches ${name} at ${host}:${port}`);
}

/** Starts the neighbour, whose network settings name the bridge's gateway too. */
async function findTargets(deps: ProbeDeps, neighbourContainer: Container): Promise<readonly Target[]> {
  const { engine, install, addresses, port, signal } = deps;
  const { NetworkSettings } = await engine.withTimeout(async (abortSignal) => {
    await neighbourContainer.start({ abortSignal });
    return await neighbourContainer.inspect({ abortSignal });
  }, signal);
  const { IPAddress = "", Gateway = "" } = NetworkSettings.Networks[networkName(install)] ?? {};
  return [
    { name: "another environment", host: IPAddress, port: 8888 },
    ...[Gateway, ...addresses].map((host) => ({ name: "this machine", host, port })),
    { name: "the provider's metadata", host: "169.254.169.254", port: 80 },
  ];
}

async function runToEnd({ engine, signal }: ProbeDeps, container: Container) {
  return await engine.withTimeout(async (abortSignal) => {
    const output = await container.attach({ stream: true, stdout: true, stderr: true, abortSignal });
    // Without a listener, a connection that breaks before it is read would end this process.
    output.on("error", () => {});
    // Before the start: the container is removed when it ends.
    const exitCode: Promise<number | undefined> = container.wait({ condition: "next-exit", abortSignal }).then(
      ({ StatusCode }) => StatusCode,
      () => undefined,
    );
    await container.start({ abortSignal });
    return { output: (await text(output)).trim(), exitCode: await exitCode };
  }, signal);
}

async function create(deps: ProbeDeps, role: string, command: readonly string[], containers: AsyncDisposableStack) {
  const name = `probe-${role}-${randomUUID()}`;
  const container = await createEphemeral(deps, {
    name,
    image: deps.image,
    network: networkName(deps.install),
    // Output of a terminal has no frames.
    Tty: true,
    Entrypoint: ["/usr/bin/python3"],
    Cmd: [...command],
  });
  containers.defer(() => removeEphemeral(deps.engine, name));
  return container;
}
