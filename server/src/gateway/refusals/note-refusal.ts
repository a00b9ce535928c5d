import type { IncomingMessage } from "node:http";
import type { Logger } from "../../logging/create-logger.ts";
import type { HostNames } from "../target/host-names.ts";
import type { Refusal } from "./refusals.ts";

/** What every refusal needs, so that it can be found later (docs/operate/incidents.md). */
export interface RefuseDeps {
  noteRefusal(request: IncomingMessage, refusal: Pick<Refusal, "status" | "code">): void;
}

interface NoteDeps {
  /** How often each code was given. */
  readonly refusals: Map<string, number>;
  readonly hosts: Pick<HostNames, "labelOf">;
  readonly log: Pick<Logger, "info">;
}

const windowMs = 60_000;
/** Whoever tries names by the thousand writes no more lines than this a minute. */
const maxLines = 200;

/**
 * Counts refusals by code, and writes one line a minute for each name and code. The line has nothing of the request but the
 * name, since addresses and headers have tokens.
 */
export function createNoteRefusal({ refusals, hosts, log }: NoteDeps): RefuseDeps["noteRefusal"] {
  const written = new Set<string>();
  let windowEnd = 0;
  return ({ headers }, { status, code }) => {
    refusals.set(code, (refusals.get(code) ?? 0) + 1);
    const subdomain = hosts.labelOf(headers.host);
    if (!subdomain) return;
    const now = performance.now();
    if (now >= windowEnd) {
      written.clear();
      windowEnd = now + windowMs;
    }
    const key = `${subdomain} ${code}`;
    if (written.has(key) || written.size >= maxLines) return;
    written.add(key);
    log.info({ event: "gateway.refused", subdomain, code, status });
  };
}
