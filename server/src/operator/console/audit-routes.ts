import { checkAudit, searchAudit } from "@berth/contract/console/audit";
import type { FastifyInstance } from "fastify";
import { readAudit, verifyAudit } from "../../audit/read-audit.ts";
import type { Db } from "../../database/database.ts";
import { mount, success } from "../../http/mount.ts";

const most = 100;

export function auditRoutes(app: FastifyInstance, { db }: { readonly db: Db }): void {
  mount(app, searchAudit, async ({ body: { subject, since } }) => {
    const filter = { subject: subject.trim() || undefined, since: since ? new Date(since) : undefined, limit: most };
    const rows = await readAudit(db, filter);
    return {
      ...success,
      acts: rows.map(({ id: no, at, actor, act, subject_id, reason, details }) => ({
        ...{ no, at: at.toISOString(), actor, act, subject: subject_id, reason },
        details: details as Record<string, string | number | boolean | null>,
      })),
    };
  });
  mount(app, checkAudit, async () => {
    const { acts, head, broken = null } = await verifyAudit(db);
    return { ...success, acts, head, broken };
  });
}
