import { array, boolean, literal, maxLength, nullable, number, object, record, string, unknown } from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { measured } from "../environments/samples.ts";
import { refundRequest } from "../payments/orders.ts";
import { maxPasswordLength } from "../rules.ts";
import { instant, nothing, success } from "../wire.ts";
import { flags } from "./settings.ts";

const maybe = nullable(instant);

/** The stored data of a user by table, without secrets (password, tokens, codes). Amounts in minor units. */
const stored = {
  environments: array(
    object({
      id: string(),
      order_id: string(),
      container_type: string(),
      subdomain: string(),
      gpu_count: number(),
      duration_hours: number(),
      status: string(),
      requested_at: instant,
      created_at: maybe,
      expires_at: maybe,
      banked_seconds: number(),
      terminated_at: maybe,
      ended_reason: nullable(string()),
    }),
  ),
  launch_stages: array(object({ environment_id: string(), generation: number(), stage: string(), at: instant })),
  sessions: array(
    object({
      id: string(),
      environment_id: string(),
      opened_at: instant,
      closed_at: maybe,
      reason: nullable(string()),
    }),
  ),
  mining_findings: array(
    object({ environment_id: string(), kind: string(), evidence: record(string(), unknown()), found_at: instant }),
  ),
  /** Averages over ten minutes. */
  measurements: array(object({ environment_id: string(), ...measured })),
  gpu_measurements: array(
    object({ environment_id: string(), gpu_id: string(), at: instant, use_percent: number(), memory_mb: number() }),
  ),
  files: array(object({ subdomain: string(), size_mb: nullable(number()), kept_until: maybe })),
  places_in_line: array(object({ gpu_count: number(), status: string(), asked_at: instant, closed_at: maybe })),
  orders: array(
    object({
      id: string(),
      gateway_order_id: nullable(string()),
      status: string(),
      container_type: string(),
      subdomain: string(),
      gpu_count: number(),
      duration_hours: number(),
      usd_minor: number(),
      amount_minor: number(),
      currency: string(),
      created_at: instant,
      paid_at: maybe,
      closed_at: maybe,
    }),
  ),
  receipts: array(object({ number: string(), customer_name: string(), customer_email: string(), issued_at: instant })),
  credit_notes: array(
    object({
      number: string(),
      refund_id: string(),
      amount_minor: number(),
      customer_name: string(),
      customer_email: string(),
      issued_at: instant,
    }),
  ),
  payments: array(
    object({
      id: string(),
      order_id: string(),
      gateway_payment_id: string(),
      status: string(),
      amount_minor: number(),
      refund_minor: number(),
      currency: string(),
      method: nullable(string()),
      card_network: nullable(string()),
      card_last4: nullable(string()),
      /** Shortened UPI address (G367), or the name of a bank or a wallet. */
      paid_from: nullable(string()),
      created_at: instant,
      captured_at: maybe,
    }),
  ),
  refunds: array(
    object({
      id: string(),
      payment_id: string(),
      amount_minor: number(),
      currency: string(),
      reason: string(),
      status: string(),
      arn: nullable(string()),
      created_at: instant,
      processed_at: maybe,
    }),
  ),
  disputes: array(
    object({
      id: string(),
      payment_id: string(),
      gateway_dispute_id: string(),
      status: string(),
      phase: string(),
      amount_minor: number(),
      currency: string(),
      lost_minor: number(),
      created_at: instant,
      closed_at: maybe,
    }),
  ),
  refund_requests: array(refundRequest),
  /** New orders are refused between these times. */
  account_holds: array(object({ dispute_id: string(), held_at: instant, lifted_at: maybe })),
  account_warnings: array(object({ reason: string(), warned_at: instant })),
  account_suspensions: array(object({ reason: string(), suspended_at: instant, lifted_at: maybe })),
  time_credits: array(
    object({ id: string(), order_id: string(), gpu_hours: number(), reason: string(), granted_at: instant }),
  ),
  /** Without those of `time_credits`. */
  credits: array(
    object({
      id: string(),
      gpu_hours: number(),
      source: string(),
      note: string(),
      granted_at: instant,
      used_by_order: nullable(string()),
      revoked_at: maybe,
    }),
  ),
  vouchers: array(object({ id: string(), redeemed_at: instant })),
  notifications: array(
    object({
      title: string(),
      body: string(),
      link: nullable(string()),
      created_at: instant,
      read_at: maybe,
    }),
  ),
  ticket_answers: array(object({ ticket_id: string(), text: string(), answered_at: instant })),
  support_tickets: array(
    object({
      id: string(),
      code: string(),
      issue_type: string(),
      description: string(),
      email: string(),
      created_at: instant,
      closed_at: maybe,
    }),
  ),
  /** Without the text, which may contain a valid link. */
  mails: array(
    object({ recipient: string(), subject: string(), status: string(), created_at: instant, ended_at: maybe }),
  ),
  sign_ins: array(
    object({
      created_at: instant,
      last_used_at: instant,
      ended_at: maybe,
      user_agent: nullable(string()),
      ip: nullable(string()),
    }),
  ),
  ssh_keys: array(
    object({
      name: string(),
      type: string(),
      fingerprint: string(),
      public_key: string(),
      created_at: instant,
      last_used_at: maybe,
    }),
  ),
  /** Accounts of other providers that sign in (G419). */
  linked_accounts: array(
    object({
      issuer: string(),
      subject: string(),
      email: nullable(string()),
      created_at: instant,
      last_used_at: maybe,
    }),
  ),
  /** Without the secrets in their URLs. */
  share_links: array(
    object({
      environment_id: string(),
      created_at: instant,
      expires_at: instant,
      revoked_at: maybe,
      views: number(),
      last_viewed_at: maybe,
    }),
  ),
  passkeys: array(object({ name: string(), created_at: instant, last_used_at: maybe, backed_up: boolean() })),
  environment_sign_ins: array(object({ environment_id: string(), created_at: instant, ended_at: maybe })),
};

export const exportAccount = endpoint({
  method: "GET",
  path: "/profile/{user_id}/export",
  auth: "bearer",
  summary: "Exports the stored data of the signed-in user, without secrets (G71, G86)",
  body: nothing,
  reply: object({
    status: literal("success"),
    exported_at: instant,
    profile: object({
      user_id: string(),
      email: string(),
      email_verified: boolean(),
      name: string(),
      phone: string(),
      created_at: maybe,
    }),
    flags,
    ...stored,
  }),
  errors: ["not_found"],
});

export const deleteAccount = endpoint({
  method: "DELETE",
  path: "/profile/{user_id}",
  auth: "bearer",
  summary: "Deletes the account: ends its environments, deletes files, keeps refunds and anonymous receipts (G71, G86)",
  body: object({ password: string().check(maxLength(maxPasswordLength)) }),
  reply: success,
  errors: ["not_found", "wrong_password", "unavailable"],
});
