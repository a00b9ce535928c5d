import type { Flags } from "@berth/contract";
import type { Sql } from "../database/database.ts";

/** Defaults (G49). */
const defaults: Flags = {
  emailNotifications: true,
  billingAlerts: true,
  securityAlerts: true,
  marketingEmails: false,
  twoFactorAuth: false,
};

export async function readFlags(sql: Sql, userId: string): Promise<Flags> {
  const row = await sql.selectFrom("user_flags").selectAll().where("user_id", "=", userId).executeTakeFirst();
  if (!row) return defaults;
  return {
    emailNotifications: row.email_notifications,
    billingAlerts: row.billing_alerts,
    securityAlerts: row.security_alerts,
    marketingEmails: row.marketing_emails,
    twoFactorAuth: row.two_factor_auth,
  };
}

/** Changes only the given flags, so that concurrent changes of different flags do not conflict. */
export async function changeFlags(
  sql: Sql,
  userId: string,
  {
    emailNotifications,
    billingAlerts,
    securityAlerts,
    marketingEmails,
  }: { [Name in keyof Flags]?: boolean | undefined },
): Promise<void> {
  const change = {
    ...(emailNotifications !== undefined && { email_notifications: emailNotifications }),
    ...(billingAlerts !== undefined && { billing_alerts: billingAlerts }),
    ...(securityAlerts !== undefined && { security_alerts: securityAlerts }),
    ...(marketingEmails !== undefined && { marketing_emails: marketingEmails }),
  };
  if (Object.keys(change).length === 0) return;
  await sql
    .insertInto("user_flags")
    .values({ user_id: userId, ...change })
    .onConflict((conflict) => conflict.column("user_id").doUpdateSet(change))
    .execute();
}
