import { dismissMining, readMining } from "@berth/contract/console/mining";
import type { FastifyInstance } from "fastify";
import { mount, success } from "../../http/mount.ts";
import { dismissFinding, readFindings } from "../rentals/mining-findings.ts";
import type { ConsoleDeps } from "./console-deps.ts";
import { authorOf } from "./guard-console.ts";
import { onWire } from "./on-wire.ts";

/** What the mining detector found: what `operator -- mining` does (G69, G157). */
export function miningRoutes(app: FastifyInstance, { db }: Pick<ConsoleDeps, "db">): void {
  mount(app, readMining, async () => ({ ...success, findings: onWire(await readFindings(db)) }));
  mount(app, dismissMining, async ({ params: { id }, body: { reason }, request }) => {
    const isNew = await dismissFinding(db, id, authorOf(request, reason));
    return { ...success, message: isNew ? "The finding is dismissed" : "The finding was dismissed before" };
  });
}
