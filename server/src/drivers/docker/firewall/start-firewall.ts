import { networkInterfaces } from "node:os";
import { type Loop, startInterval } from "../../../async/start-interval.ts";
import type { Logger } from "../../../logging/create-logger.ts";
import { operatorCommand } from "../../../text/operator-command.ts";
import { ensureNetwork } from "../containers/ensure-network.ts";
import { type EngineAddress, openEngine } from "../engine/engine.ts";
import { engineNameservers, firewallCommands, missingRules, runFirewallCommands } from "./firewall-rules.ts";
import { probeFirewall } from "./probe-firewall.ts";

export interface FirewallDeps {
  readonly engine: EngineAddress;
  readonly install: string;
  /** Any of our images on that machine; undefined while there is none, and so no run either. */
  readonly image: () => Promise<string | undefined>;
  /** Whether this process sees the engine's machine as its own, and not from within a container. */
  readonly isHost: boolean;
  /** A port of the engine's machine that accepts connections. */
  readonly port: number;
  /** Another machine, and its address that no run may reach; undefined: this machine with all its addresses. */
  readonly other?: { readonly id: string; readonly address: string };
}

const intervalMs = 60_000;

/**
 * Applies the rules and probes them, at the start and every minute. Logs leaks each time, and in one line rules
 * that were missing meanwhile: something on this machine removes them.
 */
export function startFirewall(deps: FirewallDeps, log: Logger): Loop {
  const stopping = new AbortController();
  let [isFirst, restored] = [true, 0];
  const hostId = deps.other?.id;
  const work = async () => {
    const missing = await applyFirewall(deps);
    if (!isFirst && missing.length > 0) {
      restored += missing.length;
      log.warn({ event: "firewall.restored", hostId }, restoredMessage(missing, restored));
    }
    isFirst = false;
    const leaks = await findLeaks(deps, stopping.signal);
    if (leaks.length > 0) log.fatal({ event: "firewall.leak", hostId }, leakMessage(leaks, hostId));
    return intervalMs;
  };
  const loop = startInterval({ name: "firewall", work, intervalMs, log });
  return {
    ...loop,
    stop() {
      stopping.abort();
      return loop.stop();
    },
  };
}

function leakMessage(leaks: readonly string[], id: string | undefined): string {
  const message = `environments${id ? ` on ${id}` : ""} are not isolated: ${leaks.join("; ")}. Close it as root`;
  return id ? `${message} there, by ${remoteFirewallHint(id)}` : `${message}: ${operatorCommand("firewall apply")}`;
}

function restoredMessage(missing: readonly string[], total: number): string {
  const named = missing.slice(0, 3).join("; ");
  const more = missing.length > 3 ? ` and ${missing.length - 3} more` : "";
  return `The firewall around environments had lost ${missing.length} rules and has them again (${total} since the start of this process): ${named}${more}`;
}

/** Names the command that prints the rules of another machine. */
export const remoteFirewallHint = (id: string) => `what ${operatorCommand(`hosts firewall ${id} GATEWAY`)} prints`;

/** As `probeFirewall`; empty when the signal aborts. Changes no rule. */
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

/** The missing rules, where this process may see rules; the probe finds the rest. */
export async function findMissingRules(deps: FirewallDeps): Promise<readonly string[]> {
  return (await mayApply(deps)) ? await missingRules(deps.install, await engineNameservers()) : [];
}

/** Returns the rules that were missing. Where this process may not apply rules, an operator has, or the probe finds a leak. */
async function applyFirewall(deps: FirewallDeps): Promise<readonly string[]> {
  if (!(await mayApply(deps))) return [];
  const nameservers = await engineNameservers();
  try {
    const missing = await missingRules(deps.install, nameservers);
    await runFirewallCommands(firewallCommands(deps.install, nameservers));
    return missing;
  } catch {
    return [];
  }
}

async function mayApply({ isHost, image }: FirewallDeps): Promise<boolean> {
  return isHost && process.getuid?.() === 0 && (await image()) !== undefined;
}
