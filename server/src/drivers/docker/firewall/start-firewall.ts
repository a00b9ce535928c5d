import { networkInterfaces } from "node:os";
import { type Loop, startLoop } from "../../../async/start-interval.ts";
import { ensureNetwork } from "../containers/ensure-network.ts";
import { type EngineAddress, openEngine } from "../engine/engine.ts";
import { engineNameservers, firewallCommands, missingRules, runFirewallCommands } from "./firewall-rules.ts";
import { probeFirewall } from "./probe-firewall.ts";

export interface FirewallDeps {
  readonly engine: EngineAddress;
  readonly install: string;
  /** Any image that is here; undefined while there is none, and so no run either. */
  readonly image: () => Promise<string | undefined>;
  /** Whether this process sees the engine's machine as its own: not within a container. */
  readonly isHost: boolean;
  /** A port of the engine's machine that answers. */
  readonly port: number;
  /** Another machine, and the address of it that must not be reached; undefined: this one, with all its addresses. */
  readonly other?: { readonly id: string; readonly address: string };
}

const intervalMs = 60_000;

/**
 * Puts the wall up and looks at it, at start and every minute; a hole is told each time, until somebody closes it. Rules
 * that were gone meanwhile are back, and told in one line: something on this machine takes them away.
 */
export function startFirewall(parts: FirewallDeps, failed: (error: unknown) => void): Loop {
  const stopping = new AbortController();
  let [isFirst, restored] = [true, 0];
  const loop = startLoop(
    async () => {
      const missing = await raiseWall(parts);
      if (!isFirst && missing.length > 0) {
        restored += missing.length;
        failed(restoredWords(missing, restored));
      }
      isFirst = false;
      const holes = await findLeaks(parts, stopping.signal);
      if (holes.length > 0) failed(new Error(wordsOf(holes, parts.other?.id)));
      return intervalMs;
    },
    intervalMs,
    failed,
  );
  return {
    nudge: loop.nudge,
    stop() {
      stopping.abort();
      return loop.stop();
    },
  };
}

function wordsOf(holes: readonly string[], id: string | undefined): string {
  const words = `ALARM: environments${id ? ` on ${id}` : ""} are not walled: ${holes.join("; ")}. Close it as root`;
  return id ? `${words} there, by ${remoteFirewallHint(id)}` : `${words}: npm run operator -- firewall apply`;
}

function restoredWords(missing: readonly string[], total: number): string {
  const named = missing.slice(0, 3).join("; ");
  const more = missing.length > 3 ? ` and ${missing.length - 3} more` : "";
  return `The firewall around environments had lost ${missing.length} rules and has them again (${total} since the start of this process): ${named}${more}`;
}

/** Where the rules of another machine come from. */
export const remoteFirewallHint = (id: string) => `what npm run operator -- hosts firewall ${id} GATEWAY prints`;

/** What is open, in words; nothing when it was cut short. Changes no rule. */
export async function findLeaks(
  { engine: address, install, image, isHost, port, other }: FirewallDeps,
  signal: AbortSignal = new AbortController().signal,
): Promise<readonly string[]> {
  const engine = openEngine(address);
  const reference = await image();
  if (!reference) return [];
  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const addresses = own.filter(({ family, internal }) => family === "IPv4" && !internal).map((each) => each.address);
  const known = other ? [other.address] : isHost ? addresses : [];
  try {
    await engine.withTimeout((limit) => ensureNetwork(engine, install, limit), signal);
    return await probeFirewall({ engine, install, image: reference, addresses: known, port, signal });
  } catch (error) {
    if (signal.aborted) return [];
    throw error;
  }
}

/** The rules that are gone, where this process may see them; the probe finds the rest. */
export async function findMissingRules(parts: FirewallDeps): Promise<readonly string[]> {
  return (await mayRaise(parts)) ? await missingRules(parts.install, await engineNameservers()) : [];
}

/** Answers which rules were missing. Where it may not raise them, an operator did, or the probe sees it. */
async function raiseWall(parts: FirewallDeps): Promise<readonly string[]> {
  if (!(await mayRaise(parts))) return [];
  const nameservers = await engineNameservers();
  try {
    const missing = await missingRules(parts.install, nameservers);
    await runFirewallCommands(firewallCommands(parts.install, nameservers));
    return missing;
  } catch {
    return [];
  }
}

async function mayRaise({ isHost, image }: FirewallDeps): Promise<boolean> {
  return isHost && process.getuid?.() === 0 && (await image()) !== undefined;
}
