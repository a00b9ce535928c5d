/** What `doctor` may find: names that stay, for `--json` and alerts. */
export const findingKinds = [
  "broken_invariants",
  "refunds_stuck",
  "webhooks_stuck",
  "disputes_open",
  "accounts_held",
  "capacity_out_of_service",
  "orders_stuck",
  "provider_unreachable",
  "engine_unreachable",
  "containers_orphaned",
  "homes_missing",
  "homes_orphaned",
  "images_missing",
  "clock_wrong",
  "firewall_leak",
  "mining_suspected",
  "mails_unsent",
  "disk_full",
  "certificates_expiring",
  "versions_differ",
  "roles_missing",
  "notifications_lost",
  "backup_late",
  "audit_broken",
] as const;

export type FindingKind = (typeof findingKinds)[number];
