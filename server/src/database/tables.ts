// Every table as the migrations make it. Written by `npm run schema`: never edit it, add a migration.
import type { ColumnType, Generated, GeneratedAlways } from "kysely";
import type { JsonColumns } from "./json-columns.ts";

export interface Tables {
  accepted_catalogue: {
    one: Generated<boolean>;
    prices: ColumnType<JsonColumns["accepted_catalogue.prices"], string, string>;
    terms: ColumnType<JsonColumns["accepted_catalogue.terms"], string, string>;
    accepted_at: Generated<Date>;
  };
  account_holds: {
    user_id: string;
    dispute_id: string;
    held_at: Generated<Date>;
    lifted_at: Date | null;
  };
  account_suspensions: {
    id: string;
    user_id: string;
    reason: string;
    suspended_at: Generated<Date>;
    lifted_at: Date | null;
  };
  account_warnings: {
    id: string;
    user_id: string;
    reason: string;
    warned_at: Generated<Date>;
  };
  activity: {
    environment_id: string;
    last_busy_at: Generated<Date>;
    looked_at: Generated<Date>;
  };
  announcements: {
    id: string;
    title: string;
    body: string;
    audience: "all" | "renters";
    by_mail: boolean;
    created_at: Generated<Date>;
    last_user: Generated<string>;
    notified: Generated<number>;
    due_at: Generated<Date | null>;
    lease_token: string | null;
    lease_expires_at: Date | null;
    attempts: Generated<number>;
    last_error: string | null;
  };
  archive_codes: {
    hash: Buffer;
    user_id: string;
    environment_id: string;
    expires_at: Date;
    home_id: string | null;
  };
  attempt_windows: {
    key: Buffer;
    count: number;
    ends_at: Date;
  };
  audit: {
    id: number;
    at: Date;
    actor: string;
    act: string;
    subject_kind: string;
    subject_id: string;
    reason: string;
    details: ColumnType<JsonColumns["audit.details"], string, string>;
    hash: Buffer;
  };
  audit_checks: {
    one: Generated<boolean>;
    last_id: number;
    last_hash: Buffer;
    whole_at: Date;
    seal: Buffer | null;
    sent_id: number | null;
    sent_at: Date | null;
  };
  backups: {
    id: string;
    place: string;
    with_homes: boolean;
    started_at: Generated<Date>;
    seen_at: Generated<Date>;
    bytes: Generated<number>;
    ended_at: Date | null;
    error: string | null;
  };
  catalogue_changes: {
    id: string;
    title: string;
    body: string;
    link: string;
    created_at: Generated<Date>;
    announced_until: Generated<string>;
    due_at: Generated<Date | null>;
    attempts: Generated<number>;
    last_error: string | null;
    lease_token: string | null;
    lease_expires_at: Date | null;
    withdraws: string | null;
  };
  credit_notes: {
    number: string;
    refund_id: string;
    payment_id: string;
    user_id: string;
    amount_minor: number;
    issued_at: Generated<Date>;
    document: ColumnType<JsonColumns["credit_notes.document"], string, string>;
    tax_series: string | null;
    tax_year: number | null;
    tax_no: number | null;
  };
  deleted_accounts: {
    user_id: string;
    deleted_at: Generated<Date>;
  };
  disputes: {
    id: string;
    gateway: string;
    gateway_dispute_id: string;
    payment_id: string;
    user_id: string;
    status: "open" | "under_review" | "won" | "lost" | "closed";
    phase: string;
    reason_code: string | null;
    amount_minor: number;
    currency: string;
    lost_minor: Generated<number>;
    counted_minor: Generated<number>;
    respond_by: Date | null;
    created_at: Date;
    closed_at: Date | null;
  };
  docs_searches: {
    words: string;
    count: Generated<number>;
    last_at: Generated<Date>;
  };
  embedded_gateway_account: {
    one: Generated<boolean>;
    key_id: string;
    key_secret: string;
    created_at: Generated<Date>;
    webhook_secret: string | null;
  };
  embedded_gateway_disputes: {
    id: string;
    payment_id: string;
    amount_minor: number;
    deducted_minor: Generated<number>;
    reason_code: string;
    phase: string;
    status: Generated<"open" | "under_review" | "won" | "lost" | "closed">;
    respond_by: Generated<Date>;
    created_at: Generated<Date>;
  };
  embedded_gateway_orders: {
    id: string;
    receipt: string | null;
    amount_minor: number;
    currency: string;
    capture: "automatic" | "manual";
    status: Generated<"created" | "attempted" | "paid">;
    attempts: Generated<number>;
    notes: ColumnType<JsonColumns["embedded_gateway_orders.notes"], string | undefined, string>;
    created_at: Generated<Date>;
    outcome: string | null;
  };
  embedded_gateway_payments: {
    id: string;
    order_id: string;
    amount_minor: number;
    currency: string;
    status: "created" | "authorized" | "captured" | "failed";
    refunded_minor: Generated<number>;
    card_network: string | null;
    card_last4: string | null;
    error_reason: string | null;
    error_description: string | null;
    created_at: Generated<Date>;
    authorizes_at: Date | null;
    method: Generated<"card" | "upi" | "netbanking" | "wallet">;
    vpa: string | null;
    bank: string | null;
    wallet: string | null;
    expires_at: Date | null;
  };
  embedded_gateway_refunds: {
    id: string;
    payment_id: string;
    amount_minor: number;
    idempotency_key: string | null;
    receipt: string | null;
    notes: ColumnType<JsonColumns["embedded_gateway_refunds.notes"], string | undefined, string>;
    created_at: Generated<Date>;
    arrives_at: Date;
    fails: Generated<boolean>;
    speed: Generated<"normal" | "optimum">;
  };
  embedded_gateway_webhooks: {
    id: string;
    body: string;
    created_at: Generated<Date>;
    due_at: Generated<Date>;
    attempts: Generated<number>;
    times: Generated<number>;
    lease_token: string | null;
    lease_expires_at: Date | null;
  };
  environments: {
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
    endpoint: ColumnType<JsonColumns["environments.endpoint"] | null, string | null, string | null>;
    stage: string | null;
    stage_percent: number | null;
    requested_at: Generated<Date>;
    give_up_at: Date;
    first_attempt_at: Date | null;
    created_at: Date | null;
    expires_at: Date | null;
    banked_seconds: Generated<number>;
    terminated_at: Date | null;
    ended_reason: "expired" | "terminated" | "cancelled" | "not_delivered" | "silent" | "hardware" | "operator" | null;
    notice: Generated<string>;
    due_at: Generated<Date>;
    attempts: Generated<number>;
    last_error: string | null;
    down_since: Date | null;
    warm: Generated<boolean>;
    idle_minutes: 30 | 60 | 120 | 240 | null;
    idle_stop_at: Date | null;
    idle_snoozed_until: Date | null;
    faulty_generation: number | null;
    fault_since: Date | null;
    clock_from: Date | null;
    free_on: Date | null;
    free_seconds: Generated<number>;
    without_settings: Generated<boolean>;
    stop_reason: "idle" | "silent" | "no_home" | "suspended" | null;
    banked_until: Date | null;
    lease_token: string | null;
    lease_expires_at: Date | null;
    lost_since: Date | null;
    waits_for: "room" | "machine" | "image" | "volume" | "host" | null;
    run_id: string | null;
    done_notice: "notify" | "stop" | null;
    done_ran: Generated<boolean>;
    done_quiet_since: Date | null;
  };
  former_names: {
    name: string;
    user_id: string | null;
    reserved_until: Date;
  };
  gateway_events: {
    gateway: string;
    event_id: string;
    event: string;
    body: Buffer;
    received_at: Generated<Date>;
    processed_at: Date | null;
    due_at: Generated<Date | null>;
    attempts: Generated<number>;
    last_error: string | null;
    lease_token: string | null;
    lease_expires_at: Date | null;
  };
  gateway_sweeps: {
    key_id: string;
    swept_until: Date;
    due_at: Generated<Date>;
    lease_token: string | null;
    lease_expires_at: Date | null;
  };
  gpu_leases: {
    id: string;
    gpu_id: string;
    holder_kind: "order" | "environment" | "pool" | "queue";
    holder_id: string;
    hold_until: Date | null;
    created_at: Generated<Date>;
    released_at: Date | null;
  };
  gpu_samples: {
    environment_id: string;
    gpu_id: string;
    span_seconds: 60 | 600;
    at: Date;
    looks: number;
    use_percent: number;
    memory_mb: number;
  };
  gpus: {
    id: string;
    host_id: string;
    kind: "gpu" | "cpu";
    model: Generated<string>;
    memory_mb: Generated<number>;
    quarantined_at: Date | null;
    quarantine_reason: Generated<string>;
    node: Generated<string>;
    withheld_reason: Generated<string>;
  };
  granted_credits: {
    id: string;
    user_id: string;
    gpu_hours: number;
    source: "operator" | "voucher" | "returned";
    note: string;
    granted_at: Generated<Date>;
    from_order: string | null;
    used_by_order: string | null;
    returned_hours: Generated<number>;
    revoked_at: Date | null;
    alone: Generated<boolean>;
  };
  grants: {
    id: string;
    user_id: string;
    environment_id: string;
    auth_session: string | null;
    created_at: Generated<Date>;
    revoked_at: Date | null;
    share_id: string | null;
    port: number | null;
  };
  home_moves: {
    id: string;
    user_id: string;
    from_host: string;
    from_home: string;
    to_host: string | null;
    to_home: string | null;
    requested_at: Generated<Date>;
    total_bytes: Generated<number>;
    copied_bytes: Generated<number>;
    moved_at: Date | null;
    cancelled_at: Date | null;
    due_at: Generated<Date>;
    attempts: Generated<number>;
    last_error: string | null;
    lease_token: string | null;
    lease_expires_at: Date | null;
  };
  homes: {
    id: string;
    home: string;
    host_id: string;
    user_id: string;
    subdomain: string;
    used_at: Date | null;
    delete_at: Date | null;
    told_at: Date | null;
    size_mb: number | null;
    full_told_at: Date | null;
    missing_since: Date | null;
    node: string | null;
    left_by: string | null;
    left_run: string | null;
  };
  host_images: {
    host_id: string;
    container_type: string;
    state: "ready" | "preparing" | "unavailable";
    percent: number | null;
    message: Generated<string>;
    updated_at: Generated<Date>;
    asked_at: Date | null;
  };
  hosted_changes: {
    user_id: string;
    due_at: Generated<Date>;
    lease_token: string | null;
    lease_expires_at: Date | null;
    attempts: Generated<number>;
    last_error: string | null;
  };
  hosts: {
    id: string;
    kind: "process" | "docker" | "kubernetes" | "fake";
    isolation: Generated<string>;
    pause: Generated<boolean>;
    drained_at: Date | null;
    address: string | null;
    home_root: string | null;
    reach: string | null;
    removed_at: Date | null;
    away_since: Date | null;
    is_open: GeneratedAlways<boolean>;
    lost_at: Date | null;
    moving_since: Date | null;
    new_homes: number | null;
    options: ColumnType<JsonColumns["hosts.options"] | null, string | null, string | null>;
    cluster: string | null;
  };
  identity_code: {
    hash: Buffer;
    user_id: string;
    kind: "PASSWORD_RESET" | "VERIFY_EMAIL" | "SIGN_IN";
    email: string;
    expires_at: Date;
    used_at: Date | null;
    created_at: Generated<Date>;
    issuer: string | null;
  };
  identity_key: {
    kid: string;
    alg: string;
    public_jwk: ColumnType<JsonColumns["identity_key.public_jwk"], string, string>;
    private_sealed: Buffer;
    created_at: Generated<Date>;
    not_after: Date;
  };
  identity_known_browsers: {
    user_id: string;
    hash: Buffer;
    last_used_at: Generated<Date>;
  };
  identity_links: {
    id: string;
    user_id: string;
    issuer: string;
    subject: string;
    email: string | null;
    created_at: Generated<Date>;
    last_used_at: Date | null;
  };
  identity_passkeys: {
    id: string;
    user_id: string;
    credential_id: string;
    public_key: Buffer;
    sign_count: number;
    name: string;
    backed_up: boolean;
    created_at: Generated<Date>;
    last_used_at: Date | null;
  };
  identity_pending_sign_ins: {
    hash: Buffer;
    user_id: string;
    sign_in_provider: "password" | "custom";
    tries: Generated<number>;
    expires_at: Date;
    issuer: string | null;
  };
  identity_provider_attempts: {
    state_hash: Buffer;
    browser_hash: Buffer;
    provider: string;
    sealed: Buffer;
    return_to: string;
    link_user: string | null;
    used_at: Date | null;
    code_hash: Buffer | null;
    expires_at: Date;
  };
  identity_recovery_codes: {
    user_id: string;
    hash: Buffer;
    used_at: Date | null;
  };
  identity_second_factors: {
    user_id: string;
    secret_sealed: Buffer;
    created_at: Generated<Date>;
    confirmed_at: Date | null;
    last_step: number | null;
  };
  identity_session: {
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
    sign_in_provider: Generated<"password" | "custom" | "passkey">;
    issuer: string | null;
  };
  identity_spent_challenges: {
    hash: Buffer;
    expires_at: Date;
  };
  identity_trusted_browsers: {
    hash: Buffer;
    user_id: string;
    created_at: Generated<Date>;
    expires_at: Date;
  };
  identity_user: {
    id: string;
    email: string;
    email_key: string;
    password_hash: string | null;
    name: string | null;
    email_verified: Generated<boolean>;
    disabled: Generated<boolean>;
    created_at: Generated<Date>;
    updated_at: Generated<Date>;
    signed_in_since: Date | null;
  };
  installation: {
    id: string;
    one: Generated<boolean>;
    started_at: Generated<Date>;
    secret_fingerprint: string | null;
  };
  invoice_series: {
    series: string;
    year: number;
    next_no: number;
  };
  journal: {
    id: string;
    kind:
      | "capture"
      | "fee"
      | "refund_asked"
      | "refund_failed"
      | "refund_arrived"
      | "external_refund"
      | "session_over"
      | "dispute_lost"
      | "refund_waived";
    source_id: string;
    at: Generated<Date>;
  };
  journal_lines: {
    entry_id: string;
    account: "gateway" | "prepaid" | "revenue" | "refunds_payable" | "fees" | "disputes";
    order_id: string;
    currency: string;
    amount_minor: number;
  };
  launch_stages: {
    environment_id: string;
    generation: number;
    stage: string;
    at: Generated<Date>;
  };
  launch_times: {
    environment_id: string;
    warm: Generated<boolean>;
    ready_at: Date;
    placed_ms: number | null;
    image_ms: number | null;
    started_ms: number | null;
    answering_ms: number | null;
    ready_ms: number;
  };
  mails: {
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
    due_at: Generated<Date>;
    attempts: Generated<number>;
    last_error: string | null;
    lease_token: string | null;
    lease_expires_at: Date | null;
  };
  mining_findings: {
    id: string;
    environment_id: string;
    user_id: string;
    generation: number;
    kind: "program" | "pool" | "gpu";
    evidence: ColumnType<JsonColumns["mining_findings.evidence"], string, string>;
    found_at: Generated<Date>;
    seen_at: Generated<Date>;
    ended: Generated<boolean>;
    dismissed_at: Date | null;
  };
  notifications: {
    id: string;
    user_id: string;
    cause: string;
    title: string;
    body: string;
    link: string | null;
    created_at: Generated<Date>;
    read_at: Date | null;
  };
  operator_links: {
    hash: Buffer;
    operator_id: string;
    created_at: Generated<Date>;
    expires_at: Date;
    address: string | null;
    browser: Buffer | null;
    factor_sealed: Buffer | null;
    used_at: Date | null;
  };
  operator_recovery_codes: {
    operator_id: string;
    hash: Buffer;
    used_at: Date | null;
  };
  operator_sessions: {
    id: string;
    operator_id: string;
    created_at: Generated<Date>;
    seen_at: Generated<Date>;
    expires_at: Date;
    revoked_at: Date | null;
    address: string;
  };
  operators: {
    id: string;
    email: string;
    email_key: string;
    password_hash: string | null;
    factor_sealed: Buffer | null;
    factor_step: number | null;
    created_at: Generated<Date>;
  };
  orders: {
    id: string;
    user_id: string;
    status: "draft" | "open" | "cancelled" | "expired" | "paid" | "fulfilled" | "refunding" | "refunded";
    container_type: string;
    subdomain: string;
    gpu_count: number;
    duration_hours: number;
    usd_minor: number;
    amount_minor: number;
    currency: string;
    inr_paise_per_usd: number;
    gateway: string;
    mode: "embedded" | "test" | "live";
    gateway_order_id: string | null;
    request_hash: string;
    created_at: Generated<Date>;
    hold_until: Date;
    watch_until: Date;
    paid_at: Date | null;
    deliver_by: Date | null;
    closed_at: Date | null;
    usd_net_minor: Generated<number>;
    hours: Generated<number>;
    due_at: Date | null;
    attempts: Generated<number>;
    last_error: string | null;
    extends: string | null;
    lease_token: string | null;
    lease_expires_at: Date | null;
  };
  payments: {
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
    paid_from: string | null;
  };
  processes: {
    id: string;
    roles: string[];
    version: string;
    migration: string;
    host_name: string;
    pid: number;
    settings: ColumnType<JsonColumns["processes.settings"], string, string>;
    started_at: Generated<Date>;
    seen_at: Generated<Date>;
  };
  profiles: {
    user_id: string;
    email: string;
    name: Generated<string>;
    phone: Generated<string>;
    created_at: Generated<Date>;
  };
  queue_entries: {
    id: string;
    place: GeneratedAlways<number>;
    user_id: string;
    gpu_count: number;
    status: Generated<"waiting" | "held" | "taken" | "lapsed" | "left">;
    asked_at: Generated<Date>;
    kept_host_id: string | null;
    held_until: Date | null;
    told_at: Date | null;
    order_id: string | null;
    closed_at: Date | null;
    kept_node: Generated<string>;
  };
  receipts: {
    payment_id: string;
    number: string;
    user_id: string;
    issued_at: Generated<Date>;
    document: ColumnType<JsonColumns["receipts.document"], string, string>;
    tax_series: string | null;
    tax_year: number | null;
    tax_no: number | null;
  };
  refund_requests: {
    id: string;
    order_id: string;
    user_id: string;
    reason: "partial_downtime" | "accidental_termination" | "maintenance" | "other" | "silent";
    text: string;
    status: Generated<"open" | "granted" | "declined">;
    created_at: Generated<Date>;
    decided_at: Date | null;
    answer: Generated<string>;
    refund_id: string | null;
  };
  refunds: {
    id: string;
    payment_id: string;
    amount_minor: number;
    currency: string;
    reason:
      | "not_delivered"
      | "silent"
      | "cancelled"
      | "late_payment"
      | "surplus_payment"
      | "wrong_amount"
      | "hardware"
      | "discretionary"
      | "external";
    status: "queued" | "sent" | "processed" | "failed" | "waived";
    gateway_refund_id: string | null;
    arn: string | null;
    created_at: Generated<Date>;
    processed_at: Date | null;
    due_at: Date | null;
    attempts: Generated<number>;
    last_error: string | null;
    lease_token: string | null;
    lease_expires_at: Date | null;
  };
  samples: {
    environment_id: string;
    span_seconds: 60 | 600;
    at: Date;
    looks: number;
    cpu_cores: number;
    memory_mb: number;
    home_mb: number;
    received_bytes_per_second: number | null;
    sent_bytes_per_second: number | null;
  };
  sessions: {
    id: string;
    environment_id: string;
    opened_at: Generated<Date>;
    closed_at: Date | null;
    reason: string | null;
    user_id: string;
    container_type: string;
  };
  share_links: {
    id: string;
    hash: Buffer;
    user_id: string;
    environment_id: string;
    created_at: Generated<Date>;
    expires_at: Date;
    revoked_at: Date | null;
    views: Generated<number>;
    last_viewed_at: Date | null;
  };
  sign_in_codes: {
    hash: Buffer;
    user_id: string;
    environment_id: string;
    auth_session: string | null;
    expires_at: Date;
    used_at: Date | null;
    visit: Buffer | null;
    port: number | null;
  };
  ssh_keys: {
    id: string;
    user_id: string;
    name: string;
    type: string;
    fingerprint: string;
    public_key: string;
    created_at: Generated<Date>;
    last_used_at: Date | null;
  };
  subdomain_claims: {
    name: string;
    user_id: string;
    order_id: string | null;
    held_until: Date | null;
    retained_until: Date | null;
  };
  support_tickets: {
    id: string;
    user_id: string;
    code: string;
    issue_type: string;
    description: string;
    email: string;
    created_at: Generated<Date>;
    closed_at: Date | null;
  };
  ticket_answers: {
    id: string;
    ticket_id: string;
    user_id: string;
    text: string;
    answered_at: Generated<Date>;
  };
  time_credits: {
    id: string;
    user_id: string;
    order_id: string;
    gpu_hours: number;
    reason: string;
    granted_at: Generated<Date>;
    used_by_order: string | null;
  };
  user_flags: {
    user_id: string;
    email_notifications: Generated<boolean>;
    billing_alerts: Generated<boolean>;
    security_alerts: Generated<boolean>;
    marketing_emails: Generated<boolean>;
    two_factor_auth: Generated<boolean>;
  };
  voucher_batches: {
    id: string;
    gpu_hours: number;
    reason: string;
    per_month: number | null;
    expires_at: Date | null;
    created_at: Generated<Date>;
    alone: Generated<boolean>;
  };
  vouchers: {
    id: string;
    batch_id: string;
    code_hash: Buffer;
    user_id: string | null;
    redeemed_at: Date | null;
    credit_id: string | null;
    revoked_at: Date | null;
  };
  warm_runs: {
    id: string;
    host_id: string;
    container_type: string;
    gpus: string[];
    home: string;
    run_token: string;
    state: Generated<"starting" | "ready" | "ending">;
    order_id: string | null;
    created_at: Generated<Date>;
    due_at: Generated<Date>;
    attempts: Generated<number>;
    lease_token: string | null;
    lease_expires_at: Date | null;
  };
  workers: {
    id: string;
    machine: string;
    host_name: string;
    started_at: Generated<Date>;
    seen_at: Generated<Date>;
  };
}
