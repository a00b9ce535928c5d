import { mkdirSync } from "node:fs";
import { sql } from "kysely";
import type { FindingKind } from "../../server/src/operator/doctor/finding-kinds.ts";
import { must, signUp } from "../../testing/customer.ts";
import { removeFolder } from "../../testing/product.ts";
import type { Installation } from "./installation.ts";

export interface Trouble {
  readonly what: string;
  /** All of them fire. */
  readonly alerts: readonly string[];
  /** What doctor and console name; undefined: they say that the database does not answer. */
  readonly finding: FindingKind | undefined;
  readonly plant: (around: Installation) => Promise<unknown> | unknown;
  readonly cure: (around: Installation) => Promise<unknown> | unknown;
  /** Why it cannot be planted here. */
  readonly absent?: (around: Installation) => string | undefined;
  /** How long it lasts at least. */
  readonly seconds?: number;
}

const certificate = (name: string, days: string, alerts: readonly string[]): Trouble => ({
  what: `the app's certificate ends in ${days}`,
  alerts,
  finding: "certificates_expiring",
  plant: ({ certificates }) => certificates.serve(name),
  cure: ({ certificates }) => certificates.serve("fine"),
});
const [month, week, day] = [
  "BerthCertificateEndsIn30Days",
  "BerthCertificateEndsIn7Days",
  "BerthCertificateEndsIn1Day",
] as const;

const provider = (what: string, fault: "errors" | "silence", subdomain: string): Trouble => ({
  what,
  alerts: ["BerthProviderDown"],
  finding: "provider_unreachable",
  async plant({ provider, order }) {
    await order(subdomain);
    provider.fault = fault;
  },
  cure({ provider }) {
    provider.fault = "none";
  },
});

/** The nine faults that an operator meets. */
export const troubles: readonly Trouble[] = [
  {
    what: "the database is away for 60 s",
    alerts: ["BerthDatabaseDown"],
    finding: undefined,
    seconds: 60,
    plant: ({ cluster }) => cluster.stop(),
    cure: ({ cluster }) => cluster.restart(),
  },
  {
    what: "the disk of the data folder is full",
    alerts: ["BerthDiskLow", "BerthDiskFull"],
    finding: "disk_full",
    absent: ({ disk }) => (disk ? undefined : "no small disk can be mounted here"),
    plant: ({ disk }) => disk?.fill(),
    cure: ({ disk }) => disk?.free(),
  },
  {
    what: "the mail server refuses",
    alerts: ["BerthMailServerDown"],
    finding: "mails_unsent",
    async plant({ mail, url }) {
      mail.isRefusing = true;
      const { idToken: token } = await signUp(url);
      await must(url, "POST", "/auth/verify-email", { token, body: {} });
    },
    cure({ mail }) {
      mail.isRefusing = false;
    },
  },
  provider("the payment provider answers 500", "errors", "unpaid-500"),
  provider("the payment provider is silent", "silence", "unpaid-silent"),
  {
    what: "a host is away: its Docker Engine was killed",
    alerts: ["BerthHostDown", "BerthGpuUnknown"],
    finding: "engine_unreachable",
    absent: ({ noHost }) => noHost,
    plant: ({ host }) => host?.engine.kill(),
    cure: ({ host }) => host?.engine.start(),
  },
  certificate("month", "20 days", [month]),
  certificate("week", "5 days", [month, week]),
  certificate("day", "a day", [month, week, day]),
  {
    what: "the clock is a minute off",
    alerts: ["BerthClockWrong"],
    finding: "clock_wrong",
    plant: ({ clock }) => clock.shift(60_000),
    cure: ({ clock }) => clock.mend(),
  },
  {
    what: "an image is missing on a host",
    alerts: ["BerthImageMissing"],
    finding: "images_missing",
    absent: ({ noHost }) => noHost,
    plant: ({ host }) => host?.removeImage(),
    cure: ({ host }) => host?.loadImage(),
  },
  {
    what: "the backup is late: its folder is gone for three days",
    alerts: ["BerthBackupLate"],
    finding: "backup_late",
    plant({ db, backups }) {
      removeFolder(backups);
      return sql`update backups set started_at = started_at - interval '3 days', ended_at = ended_at - interval '3 days'`.execute(
        db,
      );
    },
    cure({ operate, backups }) {
      mkdirSync(backups);
      return operate("backup", backups);
    },
  },
];
