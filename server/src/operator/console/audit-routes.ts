import { checkAudit, searchAudit } from "@berth/contract/console/audit";
import type { FastifyInstance } from "fastify";
import { readAudit, verifyAudit } from "../../audit/read-audit.ts";
import type { Db } from "../../database/database.ts";
import { mount, success } from "../../http/mount.ts";
import { auditedAct } from "./audited-act.ts";

const most = 100;

export function auditRoutes(app: FastifyInstance, { db }: { readonly db: Db }): void {
  mount(app, searchAudit, async ({ body: { subject, since } }) => {
    const filter = { subject: subject.trim() || undefined, since: since ? new Date(since) : undefined, limit: most };
    return { ...success, acts: (await readAudit(db, filter)).map(auditedAct) };
  });
  mount(app, checkAudit, async () => {
    const { acts, head, broken = null } = await verifyAudit(db);
    return { ...success, acts, head, broken };
  });
}
