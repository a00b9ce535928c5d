import type { ColumnType, Generated, GeneratedAlways } from "kysely";

/** Read as an object, written as its JSON text. */
type Json<T> = ColumnType<T, string, string>;

/** Where a running environment answers; only a driver says so. */
export type Address = { readonly host: string; readonly port: number } | { readonly socketPath: string };

interface InstallationTable {
  id: string;
  one: Generated<boolean>;
  started_at: Generated<Date>;
}

export interface IdentityUserTable {
  id: string;
  email: string;
  email_key: string;
  password_hash: string | null;
  name: string | null;
  email_verified: Generated<boolean>;
  disabled: Generated<boolean>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

interface IdentitySessionTable {
  id: string;
  user_id: string;
  generation: Generated<number>;
  rotated_at: Generated<Date>;
  auth_time: Generated<Date>;
  created_at: Generated<Date>;
  expires_at: Date;
  revoked_at: Date | null;
  revoked_reason: string | null;
  user_agent: string | null;
  ip: string | null;
}

interface IdentityCodeTable {
  hash: Buffer;
  user_id: string;
  kind: "PASSWORD_RESET" | "VERIFY_EMAIL" | "SIGN_IN";
  email: string;
  expires_at: Date;
  used_at: Date | null;
  created_at: Generated<Date>;
}

interface IdentityKeyTable {
  kid: string;
  alg: string;
  public_jwk: Json<Record<string, unknown>>;
  private_sealed: Buffer;
  created_at: Generated<Date>;
  not_after: Date;
}

interface ProfilesTable {
  user_id: string;
  email: string;
  name: Generated<string>;
  phone: Generated<string>;
  created_at: Generated<Date>;
}

interface NotificationsTable {
  id: string;
  user_id: string;
  cause: string;
  title: string;
  body: string;
  link: string | null;
  created_at: Generated<Date>;
  read_at: Date | null;
}

interface HostsTable {
  id: string;
  kind: "process" | "docker" | "kubernetes" | "fake";
  isolation: Generated<string>;
  pause: Generated<boolean>;
  seen_at: Generated<Date>;
  drained_at: Date | null;
}

interface HostImagesTable {
  host_id: string;
  container_type: string;
  state: "ready" | "preparing" | "unavailable";
  percent: number | null;
  message: Generated<string>;
  updated_at: Generated<Date>;
}

interface GpusTable {
  id: string;
  host_id: string;
  kind: "gpu" | "cpu";
  model: Generated<string>;
  memory_mb: Generated<number>;
  quarantined_at: Date | null;
}

interface GpuLeasesTable {
  id: string;
  gpu_id: string;
  holder_kind: "order" | "environment" | "pool";
  holder_id: string;
  hold_until: Date | null;
  created_at: Generated<Date>;
  released_at: Date | null;
}

interface SubdomainClaimsTable {
  name: string;
  user_id: string;
  order_id: string | null;
  held_until: Date | null;
  retained_until: Date | null;
}

export interface OrdersTable {
  id: string;
  user_id: string;
  status: "draft" | "open" | "cancelled" | "expired" | "paid" | "fulfilled" | "refunding" | "refunded";
  container_type: "jupyter" | "pytorch" | "tensorflow";
  subdomain: string;
  gpu_count: number;
  duration_hours: number;
  usd_minor: number;
  amount_minor: number;
  currency: "USD" | "INR";
  inr_paise_per_usd: number;
  gateway: string;
  mode: "embedded" | "test" | "live";
  gateway_order_id: string | null;
  request_hash: string;
  /** The environment that it buys more hours for; null launches one. */
  extends: string | null;
  created_at: Generated<Date>;
  hold_until: Date;
  watch_until: Date;
  paid_at: Date | null;
  deliver_by: Date | null;
  closed_at: Date | null;
  usd_net_minor: Generated<number>;
  hours: Generated<number>;
  next_check_at: Date | null;
  claim: string | null;
  attempts: Generated<number>;
  last_error: string | null;
}

export interface PaymentsTable {
  id: string;
  order_id: string;
  user_id: string;
  gateway: string;
  gateway_payment_id: string;
  status: "created" | "failed" | "authorized" | "captured";
  rank: GeneratedAlways<number>;
  settles_order: Generated<boolean>;
  amount_minor: number;
  currency: string;
  refund_minor: Generated<number>;
  method: string | null;
  card_network: string | null;
  card_last4: string | null;
  fee_minor: number | null;
  error_code: string | null;
  error_reason: string | null;
  created_at: Generated<Date>;
  captured_at: Date | null;
}

export interface RefundsTable {
  id: string;
  payment_id: string;
  amount_minor: number;
  currency: string;
  reason: string;
  status: "queued" | "sent" | "processed" | "failed";
  gateway_refund_id: string | null;
  arn: string | null;
  created_at: Generated<Date>;
  processed_at: Date | null;
  next_check_at: Date | null;
  claim: string | null;
  attempts: Generated<number>;
  last_error: string | null;
}

interface ReceiptsTable {
  payment_id: string;
  number: string;
  user_id: string;
  customer_name: string;
  customer_email: string;
  issued_at: Generated<Date>;
}

interface TimeCreditsTable {
  id: string;
  user_id: string;
  order_id: string;
  hours: number;
  reason: string;
  granted_at: Generated<Date>;
  used_by_order: string | null;
}

export interface EnvironmentsTable {
  id: string;
  order_id: string;
  user_id: string;
  container_type: string;
  subdomain: string;
  gpu_count: number;
  duration_hours: number;
  host_id: string;
  home: string;
  desired: Generated<"running" | "paused" | "stopped" | "terminated">;
  status: Generated<"pending" | "active" | "paused" | "stopped" | "terminated" | "unknown">;
  generation: Generated<number>;
  secret: string;
  run_token: string | null;
  endpoint: ColumnType<Address | null, string | null, string | null>;
  stage: string | null;
  stage_percent: number | null;
  requested_at: Generated<Date>;
  give_up_at: Date;
  down_since: Date | null;
  first_attempt_at: Date | null;
  created_at: Date | null;
  expires_at: Date | null;
  banked_seconds: Generated<number>;
  terminated_at: Date | null;
  ended_reason: "expired" | "terminated" | "cancelled" | "not_delivered" | "hardware" | "operator" | null;
  notice: Generated<string>;
  due_at: Generated<Date>;
  claim: string | null;
  attempts: Generated<number>;
  last_error: string | null;
}

interface LaunchStagesTable {
  environment_id: string;
  generation: number;
  stage: string;
  at: Generated<Date>;
}

interface SessionsTable {
  id: string;
  environment_id: string;
  opened_at: Generated<Date>;
  closed_at: Date | null;
  reason: string | null;
}

interface SignInCodesTable {
  hash: Buffer;
  user_id: string;
  environment_id: string;
  auth_session: string | null;
  expires_at: Date;
  used_at: Date | null;
}

interface GrantsTable {
  id: string;
  user_id: string;
  environment_id: string;
  auth_session: string | null;
  created_at: Generated<Date>;
  revoked_at: Date | null;
}

export interface MailsTable {
  id: string;
  cause: string;
  user_id: string;
  recipient: string;
  subject: string;
  body_text: string;
  body_html: string;
  status: Generated<"queued" | "sent" | "refused" | "lapsed">;
  created_at: Generated<Date>;
  useful_until: Date;
  ended_at: Date | null;
  next_try_at: Generated<Date>;
  claim: string | null;
  attempts: Generated<number>;
  last_error: string | null;
}

interface SupportTicketsTable {
  id: string;
  user_id: string;
  code: string;
  issue_type: string;
  description: string;
  email: string;
  created_at: Generated<Date>;
}

interface UserFlagsTable {
  user_id: string;
  email_notifications: Generated<boolean>;
  billing_alerts: Generated<boolean>;
  security_alerts: Generated<boolean>;
  marketing_emails: Generated<boolean>;
  two_factor_auth: Generated<boolean>;
}

export interface GatewayEventsTable {
  gateway: string;
  event_id: string;
  event: string;
  body: Buffer;
  received_at: Generated<Date>;
  processed_at: Date | null;
  next_check_at: Generated<Date | null>;
  claim: string | null;
  attempts: Generated<number>;
  last_error: string | null;
}

export interface JournalTable {
  id: string;
  kind: "capture" | "fee" | "refund_asked" | "refund_failed" | "refund_arrived" | "external_refund" | "session_over";
  source_id: string;
  at: Generated<Date>;
}

export interface JournalLinesTable {
  entry_id: string;
  account: "gateway" | "prepaid" | "revenue" | "refunds_payable" | "fees";
  order_id: string;
  currency: string;
  amount_minor: number;
}

/** The embedded payment gateway's own tables: nothing outside payments/embedded-gateway reads them. */
interface EmbeddedGatewayAccountTable {
  one: Generated<boolean>;
  key_id: string;
  key_secret: string;
  webhook_secret: string | null;
  created_at: Generated<Date>;
}

export interface EmbeddedGatewayOrdersTable {
  id: string;
  receipt: string | null;
  amount_minor: number;
  currency: string;
  capture: "automatic" | "manual";
  status: Generated<"created" | "attempted" | "paid">;
  attempts: Generated<number>;
  notes: Json<Record<string, string>>;
  created_at: Generated<Date>;
}

export interface EmbeddedGatewayPaymentsTable {
  id: string;
  order_id: string;
  amount_minor: number;
  currency: string;
  status: "created" | "authorized" | "captured" | "failed";
  refunded_minor: Generated<number>;
  card_network: string;
  card_last4: string;
  error_reason: string | null;
  error_description: string | null;
  created_at: Generated<Date>;
}

export interface EmbeddedGatewayRefundsTable {
  id: string;
  payment_id: string;
  amount_minor: number;
  idempotency_key: string | null;
  receipt: string | null;
  notes: Json<Record<string, string>>;
  created_at: Generated<Date>;
  arrives_at: Date;
}

interface EmbeddedGatewayWebhooksTable {
  id: string;
  body: string;
  created_at: Generated<Date>;
  next_try_at: Generated<Date>;
  attempts: Generated<number>;
}

export interface HomesTable {
  id: string;
  home: string;
  host_id: string;
  user_id: string;
  subdomain: string;
  used_at: Date | null;
  delete_at: Date | null;
  told_at: Date | null;
  size_mb: number | null;
}

interface ArchiveCodesTable {
  hash: Buffer;
  user_id: string;
  environment_id: string;
  expires_at: Date;
}

interface DeletedAccountsTable {
  user_id: string;
  deleted_at: Generated<Date>;
}

export interface Tables {
  installation: InstallationTable;
  identity_user: IdentityUserTable;
  identity_session: IdentitySessionTable;
  identity_code: IdentityCodeTable;
  identity_key: IdentityKeyTable;
  profiles: ProfilesTable;
  notifications: NotificationsTable;
  hosts: HostsTable;
  host_images: HostImagesTable;
  gpus: GpusTable;
  gpu_leases: GpuLeasesTable;
  subdomain_claims: SubdomainClaimsTable;
  orders: OrdersTable;
  payments: PaymentsTable;
  refunds: RefundsTable;
  receipts: ReceiptsTable;
  time_credits: TimeCreditsTable;
  environments: EnvironmentsTable;
  launch_stages: LaunchStagesTable;
  sessions: SessionsTable;
  sign_in_codes: SignInCodesTable;
  grants: GrantsTable;
  mails: MailsTable;
  support_tickets: SupportTicketsTable;
  user_flags: UserFlagsTable;
  gateway_events: GatewayEventsTable;
  journal: JournalTable;
  journal_lines: JournalLinesTable;
  homes: HomesTable;
  archive_codes: ArchiveCodesTable;
  deleted_accounts: DeletedAccountsTable;
  embedded_gateway_account: EmbeddedGatewayAccountTable;
  embedded_gateway_orders: EmbeddedGatewayOrdersTable;
  embedded_gateway_payments: EmbeddedGatewayPaymentsTable;
  embedded_gateway_refunds: EmbeddedGatewayRefundsTable;
  embedded_gateway_webhooks: EmbeddedGatewayWebhooksTable;
}
