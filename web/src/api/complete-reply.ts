import type {
  billing,
  Container,
  PromisedBilling,
  PromisedContainer,
  PromisedProfile,
  PromisedSettings,
  profile,
  ReplyOf,
  settings,
} from "@berth/contract";

type Profile = ReplyOf<typeof profile>;
type Billing = ReplyOf<typeof billing>;

/** Without `usage` nothing is known of hours run and of GPUs. */
type KnownProfile = Omit<Profile, "usage" | "status"> & { readonly usage: Profile["usage"] | undefined };

export type Statement = Omit<Billing, "status" | "usageBreakdown" | "trend"> & {
  readonly trend: Billing["trend"] | undefined;
  readonly usageBreakdown: readonly (Omit<Billing["usageBreakdown"][number], "run" | "unit"> & {
    readonly run: number | undefined;
  })[];
};

/** Fills in what the specification does not promise, so that each screen runs on its answers alone (G303). */
export function completeProfile({ profile: person, user_data, usage }: PromisedProfile): KnownProfile {
  const containers = Object.entries(user_data?.containers ?? {});
  return {
    profile: {
      name: person?.name ?? "",
      email: person?.email ?? "",
      phone: person?.phone ?? "",
      email_verified: person?.email_verified ?? true,
    },
    user_data: {
      containers: Object.fromEntries(containers.map(([id, container]) => [id, completeContainer(container)])),
      payment_info: user_data?.payment_info ?? {},
    },
    usage,
  };
}

export function completeBilling(reply: PromisedBilling): Statement {
  return {
    ...reply,
    trend: reply.trend,
    usageBreakdown: reply.usageBreakdown.map((row) => ({ ...row, run: row.run ?? undefined })),
    invoices: reply.invoices.map((invoice) => ({
      ...invoice,
      order_id: invoice.order_id ?? "",
      currency: invoice.currency ?? "USD",
      state: invoice.state ?? (invoice.status === "Paid" ? "paid" : "pending"),
      refunded: invoice.refunded ?? 0,
      payment_reference: invoice.payment_reference ?? "",
      session_id: invoice.session_id ?? null,
      credit_notes: invoice.credit_notes ?? [],
    })),
  };
}

export function completeSettings({
  profile: person,
  flags,
}: PromisedSettings): Omit<ReplyOf<typeof settings>, "status"> {
  return {
    profile: { name: person?.name ?? "", email: person?.email ?? "", phone: person?.phone ?? "" },
    flags: {
      emailNotifications: flags?.emailNotifications ?? false,
      billingAlerts: flags?.billingAlerts ?? false,
      securityAlerts: flags?.securityAlerts ?? false,
      marketingEmails: flags?.marketingEmails ?? false,
      twoFactorAuth: flags?.twoFactorAuth ?? false,
    },
  };
}

function completeContainer(container: PromisedContainer): Container {
  const { created_at, expires_at = null } = container;
  return {
    ...container,
    expires_at,
    subdomain: container.subdomain ?? "",
    gpu_count: container.gpu_count ?? 1,
    duration_hours: container.duration_hours ?? hoursBetween(created_at, expires_at),
    banked_seconds: container.banked_seconds ?? 0,
    stage: container.stage ?? null,
    stage_percent: container.stage_percent ?? null,
    waits_for: container.waits_for ?? null,
    ended_reason: container.ended_reason ?? null,
    files_until: container.files_until ?? null,
    can_pause: container.can_pause ?? true,
    moving_percent: container.moving_percent ?? null,
  };
}

/** Expiry minus creation (spec 9.4, G24); 0 if one of them cannot be read. */
function hoursBetween(from: string, to: string | null): number {
  const hours = to === null ? 0 : (Date.parse(to) - Date.parse(from)) / 3_600_000;
  return Number.isNaN(hours) ? 0 : hours;
}
