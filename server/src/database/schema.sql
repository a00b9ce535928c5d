-- What the migrations make, for reading. Written by `npm run schema`: never edit it, add a migration.

create table accepted_catalogue (
  one boolean not null default true,
  prices jsonb not null,
  terms jsonb not null,
  accepted_at timestamptz not null default now(),
  constraint accepted_catalogue_pkey primary key (one),
  constraint accepted_catalogue_one_check check (one),
  constraint accepted_catalogue_prices_check check (jsonb_typeof(prices) = 'array'),
  constraint accepted_catalogue_terms_check check (jsonb_typeof(terms) = 'array')
);

create table account_holds (
  user_id text not null,
  dispute_id text not null,
  held_at timestamptz not null default now(),
  lifted_at timestamptz,
  constraint account_holds_pkey primary key (user_id, dispute_id),
  constraint account_holds_dispute_id_fkey foreign key (dispute_id) references disputes(id)
);

create table account_suspensions (
  id text not null,
  user_id text not null,
  reason text not null,
  suspended_at timestamptz not null default now(),
  lifted_at timestamptz,
  constraint account_suspensions_pkey primary key (id),
  constraint account_suspensions_reason_check check (reason <> '')
);
create unique index one_suspension_per_user on account_suspensions (user_id) where lifted_at is null;
create trigger account_suspensions_alive before insert on account_suspensions for each row execute function skip_deleted();

create table account_warnings (
  id text not null,
  user_id text not null,
  reason text not null,
  warned_at timestamptz not null default now(),
  constraint account_warnings_pkey primary key (id),
  constraint account_warnings_reason_check check (reason <> '')
);
create index account_warnings_user on account_warnings (user_id, warned_at);
create trigger account_warnings_alive before insert on account_warnings for each row execute function skip_deleted();

create table activity (
  environment_id text not null,
  last_busy_at timestamptz not null default now(),
  looked_at timestamptz not null default now(),
  constraint activity_pkey primary key (environment_id),
  constraint activity_environment_id_fkey foreign key (environment_id) references environments(id)
);

create table announcements (
  id text not null,
  title text not null,
  body text not null,
  audience text not null,
  by_mail boolean not null,
  created_at timestamptz not null default now(),
  last_user text not null default '',
  notified integer not null default 0,
  due_at timestamptz default now(),
  lease_token uuid,
  lease_expires_at timestamptz,
  attempts integer not null default 0,
  last_error text,
  constraint announcements_pkey primary key (id),
  constraint announcements_audience_check check (audience in ('all', 'renters')),
  constraint announcements_body_check check (body <> ''),
  constraint announcements_lease check ((lease_token is null) = (lease_expires_at is null)),
  constraint announcements_title_check check (title <> '')
);
create index announcements_due on announcements (greatest(due_at, lease_expires_at)) where due_at is not null;

create table archive_codes (
  hash bytea not null,
  user_id text not null,
  environment_id text not null,
  expires_at timestamptz not null,
  home_id text,
  constraint archive_codes_pkey primary key (hash),
  constraint archive_codes_environment_id_fkey foreign key (environment_id) references environments(id)
);
create index archive_codes_user on archive_codes (user_id);

create unlogged table attempt_windows (
  key bytea not null,
  count integer not null,
  ends_at timestamptz not null,
  constraint attempt_windows_pkey primary key (key)
);
create index attempt_windows_ends on attempt_windows (ends_at);

create table audit (
  id bigint not null,
  at timestamptz not null,
  actor text not null,
  act text not null,
  subject_kind text not null,
  subject_id text not null,
  reason text not null,
  details jsonb not null,
  hash bytea not null,
  constraint audit_pkey primary key (id),
  constraint audit_act_check check (act <> ''),
  constraint audit_actor_check check (actor <> ''),
  constraint audit_at_check check (at = date_trunc('milliseconds', at)),
  constraint audit_details_check check (jsonb_typeof(details) = 'object'),
  constraint audit_hash_check check (length(hash) = 32),
  constraint audit_id_check check (id > 0)
);
create index audit_subject on audit (subject_id, id desc);
create trigger audit_append_only before delete or update or truncate on audit for each statement execute function refuse_rewrite();

create table audit_checks (
  one boolean not null default true,
  last_id bigint not null,
  last_hash bytea not null,
  whole_at timestamptz not null,
  seal bytea,
  sent_id bigint,
  sent_at timestamptz,
  constraint audit_checks_pkey primary key (one),
  constraint audit_checks_last_hash_check check (length(last_hash) = 32),
  constraint audit_checks_one_check check (one),
  constraint audit_checks_seal_check check (length(seal) = 32)
);

create table backups (
  id text not null,
  place text not null,
  with_homes boolean not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  bytes bigint not null default 0,
  ended_at timestamptz,
  error text,
  constraint backups_pkey primary key (id),
  constraint backups_error check (error is null or ended_at is not null)
);
create unique index backups_one_runs on backups ((true)) where ended_at is null;

create table catalogue_changes (
  id text not null,
  title text not null,
  body text not null,
  link text not null,
  created_at timestamptz not null default now(),
  announced_until text not null default '',
  due_at timestamptz default now(),
  attempts integer not null default 0,
  last_error text,
  lease_token uuid,
  lease_expires_at timestamptz,
  withdraws text,
  constraint catalogue_changes_pkey primary key (id),
  constraint catalogue_changes_lease check ((num_nulls(lease_token, lease_expires_at) in (0, 2)) and (lease_token is null or due_at is not null)),
  constraint catalogue_changes_withdraws_fkey foreign key (withdraws) references catalogue_changes(id),
  constraint catalogue_changes_withdraws_key unique (withdraws)
);
create index catalogue_changes_due on catalogue_changes (greatest(due_at, lease_expires_at)) where due_at is not null;

create table credit_notes (
  number text not null,
  refund_id text not null,
  payment_id text not null,
  user_id text not null,
  amount_minor bigint not null,
  issued_at timestamptz not null default now(),
  document jsonb not null,
  tax_series text,
  tax_year integer,
  tax_no integer,
  constraint credit_notes_pkey primary key (number),
  constraint credit_notes_amount_minor_check check (amount_minor > 0),
  constraint credit_notes_check check (num_nulls(tax_series, tax_year, tax_no) in (0, 3)),
  constraint credit_notes_payment_id_fkey foreign key (payment_id) references payments(id),
  constraint credit_notes_refund_id_fkey foreign key (refund_id) references refunds(id),
  constraint credit_notes_refund_id_key unique (refund_id),
  constraint credit_notes_tax_series_tax_year_tax_no_key unique (tax_series, tax_year, tax_no)
);
create index credit_notes_payment on credit_notes (payment_id);

create table deleted_accounts (
  user_id text not null,
  deleted_at timestamptz not null default now(),
  constraint deleted_accounts_pkey primary key (user_id)
);

create table disputes (
  id text not null,
  gateway text not null,
  gateway_dispute_id text not null,
  payment_id text not null,
  user_id text not null,
  status text not null,
  phase text not null,
  reason_code text,
  amount_minor bigint not null,
  currency text not null,
  lost_minor bigint not null default 0,
  counted_minor bigint not null default 0,
  respond_by timestamptz,
  created_at timestamptz not null,
  closed_at timestamptz,
  constraint disputes_pkey primary key (id),
  constraint disputes_amount_minor_check check (amount_minor > 0),
  constraint disputes_check check (counted_minor >= 0 and counted_minor <= lost_minor),
  constraint disputes_check1 check ((status = 'lost') = (lost_minor > 0)),
  constraint disputes_check2 check ((status in ('won', 'lost', 'closed')) = (closed_at is not null)),
  constraint disputes_gateway_gateway_dispute_id_key unique (gateway, gateway_dispute_id),
  constraint disputes_payment_id_fkey foreign key (payment_id) references payments(id),
  constraint disputes_status_check check (status in ('open', 'under_review', 'won', 'lost', 'closed'))
);
create index disputes_payment on disputes (payment_id);

create table docs_searches (
  words text not null,
  count integer not null default 1,
  last_at timestamptz not null default now(),
  constraint docs_searches_pkey primary key (words),
  constraint docs_searches_words_check check (length(words) >= 1 and length(words) <= 64)
);

create table embedded_gateway_account (
  one boolean not null default true,
  key_id text not null,
  key_secret text not null,
  created_at timestamptz not null default now(),
  webhook_secret text,
  constraint embedded_gateway_account_pkey primary key (one),
  constraint embedded_gateway_account_one_check check (one)
);

create table embedded_gateway_disputes (
  id text not null,
  payment_id text not null,
  amount_minor bigint not null,
  deducted_minor bigint not null default 0,
  reason_code text not null,
  phase text not null,
  status text not null default 'open',
  respond_by timestamptz not null default (now() + '7 days'::interval),
  created_at timestamptz not null default now(),
  constraint embedded_gateway_disputes_pkey primary key (id),
  constraint embedded_gateway_disputes_amount_minor_check check (amount_minor > 0),
  constraint embedded_gateway_disputes_payment_id_fkey foreign key (payment_id) references embedded_gateway_payments(id),
  constraint embedded_gateway_disputes_status_check check (status in ('open', 'under_review', 'won', 'lost', 'closed'))
);

create table embedded_gateway_orders (
  id text not null,
  receipt text,
  amount_minor bigint not null,
  currency text not null,
  capture text not null,
  status text not null default 'created',
  attempts integer not null default 0,
  notes jsonb not null default '{}'::jsonb,
  created_at timestamptz not null default now(),
  outcome text,
  constraint embedded_gateway_orders_pkey primary key (id),
  constraint embedded_gateway_orders_amount_minor_check check (amount_minor > 0),
  constraint embedded_gateway_orders_capture_check check (capture in ('automatic', 'manual')),
  constraint embedded_gateway_orders_status_check check (status in ('created', 'attempted', 'paid'))
);
create index embedded_gateway_orders_receipt on embedded_gateway_orders (receipt);

create table embedded_gateway_payments (
  id text not null,
  order_id text not null,
  amount_minor bigint not null,
  currency text not null,
  status text not null,
  refunded_minor bigint not null default 0,
  card_network text,
  card_last4 text,
  error_reason text,
  error_description text,
  created_at timestamptz not null default now(),
  authorizes_at timestamptz,
  method text not null default 'card',
  vpa text,
  bank text,
  wallet text,
  expires_at timestamptz,
  constraint embedded_gateway_payments_pkey primary key (id),
  constraint embedded_gateway_payments_amount_minor_check check (amount_minor > 0),
  constraint embedded_gateway_payments_check check (refunded_minor >= 0 and refunded_minor <= amount_minor),
  constraint embedded_gateway_payments_check1 check (refunded_minor = 0 or status = 'captured'),
  constraint embedded_gateway_payments_method_check check (method in ('card', 'upi', 'netbanking', 'wallet')),
  constraint embedded_gateway_payments_order_id_fkey foreign key (order_id) references embedded_gateway_orders(id),
  constraint embedded_gateway_payments_status_check check (status in ('created', 'authorized', 'captured', 'failed'))
);
create index embedded_gateway_payments_created on embedded_gateway_payments (created_at);
create index embedded_gateway_payments_order on embedded_gateway_payments (order_id);

create table embedded_gateway_refunds (
  id text not null,
  payment_id text not null,
  amount_minor bigint not null,
  idempotency_key text,
  receipt text,
  notes jsonb not null default '{}'::jsonb,
  created_at timestamptz not null default now(),
  arrives_at timestamptz not null,
  fails boolean not null default false,
  speed text not null default 'normal',
  constraint embedded_gateway_refunds_pkey primary key (id),
  constraint embedded_gateway_refunds_amount_minor_check check (amount_minor > 0),
  constraint embedded_gateway_refunds_payment_id_fkey foreign key (payment_id) references embedded_gateway_payments(id),
  constraint embedded_gateway_refunds_payment_id_idempotency_key_key unique (payment_id, idempotency_key),
  constraint embedded_gateway_refunds_speed_check check (speed in ('normal', 'optimum'))
);

create table embedded_gateway_webhooks (
  id text not null,
  body text not null,
  created_at timestamptz not null default now(),
  due_at timestamptz not null default now(),
  attempts integer not null default 0,
  times integer not null default 1,
  lease_token uuid,
  lease_expires_at timestamptz,
  constraint embedded_gateway_webhooks_pkey primary key (id),
  constraint embedded_gateway_webhooks_lease check ((lease_token is null) = (lease_expires_at is null))
);
create index embedded_gateway_webhooks_due on embedded_gateway_webhooks (greatest(due_at, lease_expires_at));

create table environments (
  id text not null,
  order_id text not null,
  user_id text not null,
  container_type text not null,
  subdomain text not null,
  gpu_count integer not null,
  duration_hours integer not null,
  host_id text not null,
  home text not null,
  desired text not null default 'running',
  status text not null default 'pending',
  generation integer not null default 0,
  secret text not null,
  run_token text,
  endpoint jsonb,
  stage text,
  stage_percent integer,
  requested_at timestamptz not null default now(),
  give_up_at timestamptz not null,
  first_attempt_at timestamptz,
  created_at timestamptz,
  expires_at timestamptz,
  banked_seconds bigint not null default 0,
  terminated_at timestamptz,
  ended_reason text,
  notice text not null default '',
  due_at timestamptz not null default now(),
  attempts integer not null default 0,
  last_error text,
  down_since timestamptz,
  warm boolean not null default false,
  idle_minutes integer,
  idle_stop_at timestamptz,
  idle_snoozed_until timestamptz,
  faulty_generation integer,
  fault_since timestamptz,
  clock_from timestamptz,
  free_on date,
  free_seconds double precision not null default 0,
  without_settings boolean not null default false,
  stop_reason text,
  banked_until timestamptz,
  lease_token uuid,
  lease_expires_at timestamptz,
  lost_since timestamptz,
  waits_for text,
  run_id text,
  done_notice text,
  done_ran boolean not null default false,
  done_quiet_since timestamptz,
  constraint environments_pkey primary key (id),
  constraint environments_banked_seconds_check check (banked_seconds >= 0),
  constraint environments_check check ((status = 'terminated') = (terminated_at is not null)),
  constraint environments_desired_check check (desired in ('running', 'paused', 'stopped', 'terminated')),
  constraint environments_done_notice_check check (done_notice in ('notify', 'stop')),
  constraint environments_duration_hours_check check (duration_hours > 0),
  constraint environments_ended_reason_check check (ended_reason in ('expired', 'terminated', 'cancelled', 'not_delivered', 'silent', 'hardware', 'operator')),
  constraint environments_gpu_count_check check (gpu_count > 0),
  constraint environments_host_id_fkey foreign key (host_id) references hosts(id),
  constraint environments_idle_minutes_check check (idle_minutes in (30, 60, 120, 240)),
  constraint environments_lease check ((lease_token is null) = (lease_expires_at is null)),
  constraint environments_order_id_fkey foreign key (order_id) references orders(id),
  constraint environments_order_id_key unique (order_id),
  constraint environments_status_check check (status in ('pending', 'active', 'paused', 'stopped', 'terminated', 'unknown')),
  constraint environments_stop_reason_check check (stop_reason in ('idle', 'silent', 'no_home', 'suspended')),
  constraint environments_waits_for_check check (waits_for in ('room', 'machine', 'image', 'volume', 'host'))
);
create index environments_banked on environments (banked_until) where banked_until is not null;
create unique index environments_display_name on environments ("left"(id, 8));
create index environments_due on environments (greatest(due_at, lease_expires_at)) where status <> 'terminated';
create index environments_ended on environments (terminated_at) where terminated_at is not null;
create index environments_owner on environments (user_id);
create unique index environments_run on environments (run_id) where run_id is not null;
create unique index one_live_environment_per_name on environments (subdomain) where status <> 'terminated';
create trigger environments_changed after update on environments for each row when (old.status is distinct from new.status or old.desired is distinct from new.desired or old.generation is distinct from new.generation or old.endpoint is distinct from new.endpoint or old.stage is distinct from new.stage or old.stage_percent is distinct from new.stage_percent or old.expires_at is distinct from new.expires_at or old.secret is distinct from new.secret or old.banked_seconds is distinct from new.banked_seconds or old.idle_minutes is distinct from new.idle_minutes or old.idle_stop_at is distinct from new.idle_stop_at or old.idle_snoozed_until is distinct from new.idle_snoozed_until or old.waits_for is distinct from new.waits_for or old.done_notice is distinct from new.done_notice or old.done_ran is distinct from new.done_ran) execute function tell_change('environment');
create trigger environments_inserted after insert on environments for each row execute function tell_change('environment');

create table former_names (
  name text not null,
  user_id text,
  reserved_until timestamptz not null,
  constraint former_names_pkey primary key (name)
);
create index former_names_user on former_names (user_id);

create table gateway_events (
  gateway text not null,
  event_id text not null,
  event text not null,
  body bytea not null,
  received_at timestamptz not null default now(),
  processed_at timestamptz,
  due_at timestamptz default now(),
  attempts integer not null default 0,
  last_error text,
  lease_token uuid,
  lease_expires_at timestamptz,
  constraint gateway_events_pkey primary key (gateway, event_id),
  constraint gateway_events_check check ((processed_at is null) = (due_at is not null)),
  constraint gateway_events_lease check ((num_nulls(lease_token, lease_expires_at) in (0, 2)) and (lease_token is null or due_at is not null))
);
create index gateway_events_due on gateway_events (greatest(due_at, lease_expires_at)) where processed_at is null;
create index gateway_events_processed on gateway_events (processed_at) where processed_at is not null;
create trigger gateway_events_inserted after insert on gateway_events for each row execute function tell_event();

create table gateway_sweeps (
  key_id text not null,
  swept_until timestamptz not null,
  due_at timestamptz not null default now(),
  lease_token uuid,
  lease_expires_at timestamptz,
  constraint gateway_sweeps_pkey primary key (key_id),
  constraint gateway_sweeps_lease check ((lease_token is null) = (lease_expires_at is null))
);

create table gpu_leases (
  id text not null,
  gpu_id text not null,
  holder_kind text not null,
  holder_id text not null,
  hold_until timestamptz,
  created_at timestamptz not null default now(),
  released_at timestamptz,
  constraint gpu_leases_pkey primary key (id),
  constraint gpu_leases_gpu_id_fkey foreign key (gpu_id) references gpus(id),
  constraint gpu_leases_holder_kind_check check (holder_kind in ('order', 'environment', 'pool', 'queue'))
);
create index gpu_leases_holder on gpu_leases (holder_kind, holder_id) where released_at is null;
create index gpu_leases_released on gpu_leases (released_at) where released_at is not null;
create unique index one_lease_per_gpu on gpu_leases (gpu_id) where released_at is null;

create table gpu_samples (
  environment_id text not null,
  gpu_id text not null,
  span_seconds integer not null,
  at timestamptz not null,
  looks integer not null,
  use_percent real not null,
  memory_mb real not null,
  constraint gpu_samples_pkey primary key (environment_id, span_seconds, at, gpu_id),
  constraint gpu_samples_environment_id_fkey foreign key (environment_id) references environments(id),
  constraint gpu_samples_looks_check check (looks > 0),
  constraint gpu_samples_span_seconds_check check (span_seconds in (60, 600))
);
create index gpu_samples_old on gpu_samples (span_seconds, at);

create table gpus (
  id text not null,
  host_id text not null,
  kind text not null,
  model text not null default '',
  memory_mb integer not null default 0,
  quarantined_at timestamptz,
  quarantine_reason text not null default '',
  node text not null default '',
  withheld_reason text not null default '',
  constraint gpus_pkey primary key (id),
  constraint gpus_host_id_fkey foreign key (host_id) references hosts(id) on delete cascade,
  constraint gpus_kind_check check (kind in ('gpu', 'cpu'))
);

create table granted_credits (
  id text not null,
  user_id text not null,
  gpu_hours numeric(10,2) not null,
  source text not null,
  note text not null,
  granted_at timestamptz not null default now(),
  from_order text,
  used_by_order text,
  returned_hours numeric(10,2) not null default 0,
  revoked_at timestamptz,
  alone boolean not null default false,
  constraint granted_credits_pkey primary key (id),
  constraint granted_credits_check check (num_nonnulls(used_by_order, revoked_at) < 2),
  constraint granted_credits_check1 check (returned_hours >= 0::numeric and returned_hours <= gpu_hours),
  constraint granted_credits_check2 check (returned_hours = 0::numeric or used_by_order is not null),
  constraint granted_credits_check3 check ((source = 'returned') = (from_order is not null)),
  constraint granted_credits_from_order_fkey foreign key (from_order) references orders(id),
  constraint granted_credits_gpu_hours_check check (gpu_hours > 0::numeric),
  constraint granted_credits_source_check check (source in ('operator', 'voucher', 'returned')),
  constraint granted_credits_used_by_order_fkey foreign key (used_by_order) references orders(id)
);
create index granted_credits_used on granted_credits (used_by_order);
create index granted_credits_user on granted_credits (user_id, granted_at);
create trigger granted_credits_alive before insert on granted_credits for each row execute function skip_deleted();

create table grants (
  id text not null,
  user_id text not null,
  environment_id text not null,
  auth_session text,
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  share_id text,
  port integer,
  constraint grants_pkey primary key (id),
  constraint grants_environment_id_fkey foreign key (environment_id) references environments(id),
  constraint grants_port_check check (port >= 1024 and port <= 65535),
  constraint grants_share_id_fkey foreign key (share_id) references share_links(id) on delete cascade
);
create index grants_live on grants (user_id) where revoked_at is null;
create index grants_shared on grants (share_id) where share_id is not null;
create trigger grants_changed after insert or update on grants for each row execute function tell_change('grant');

create table home_moves (
  id text not null,
  user_id text not null,
  from_host text not null,
  from_home text not null,
  to_host text,
  to_home text,
  requested_at timestamptz not null default now(),
  total_bytes bigint not null default 0,
  copied_bytes bigint not null default 0,
  moved_at timestamptz,
  cancelled_at timestamptz,
  due_at timestamptz not null default now(),
  attempts integer not null default 0,
  last_error text,
  lease_token uuid,
  lease_expires_at timestamptz,
  constraint home_moves_pkey primary key (id),
  constraint home_moves_attempt check ((to_host is null) = (to_home is null)),
  constraint home_moves_from_host_fkey foreign key (from_host) references hosts(id),
  constraint home_moves_id_fkey foreign key (id) references homes(id),
  constraint home_moves_lease check ((lease_token is null) = (lease_expires_at is null)),
  constraint home_moves_to_host_fkey foreign key (to_host) references hosts(id)
);
create index home_moves_due on home_moves (greatest(due_at, lease_expires_at));
create trigger home_moves_changed after update on home_moves for each row when (old.copied_bytes is distinct from new.copied_bytes or old.moved_at is distinct from new.moved_at or old.cancelled_at is distinct from new.cancelled_at) execute function tell_move();
create trigger home_moves_inserted after insert on home_moves for each row execute function tell_change('home');
create trigger home_moves_told after insert or delete on home_moves for each row execute function tell_move();

create table homes (
  id text not null,
  home text not null,
  host_id text not null,
  user_id text not null,
  subdomain text not null,
  used_at timestamptz,
  delete_at timestamptz,
  told_at timestamptz,
  size_mb double precision,
  full_told_at timestamptz,
  missing_since timestamptz,
  node text,
  left_by text,
  left_run text,
  constraint homes_pkey primary key (id),
  constraint homes_home_host_id_key unique (home, host_id),
  constraint homes_host_id_fkey foreign key (host_id) references hosts(id),
  constraint homes_left check ((left_by is null) = (left_run is null)),
  constraint homes_left_by_fkey foreign key (left_by) references environments(id)
);
create index homes_due on homes (delete_at) where delete_at is not null;
create index homes_user on homes (user_id);
create trigger homes_changed after update on homes for each row execute function tell_change('home');
create trigger homes_inserted after insert on homes for each row execute function tell_change('home');

create table host_images (
  host_id text not null,
  container_type text not null,
  state text not null,
  percent integer,
  message text not null default '',
  updated_at timestamptz not null default now(),
  asked_at timestamptz,
  constraint host_images_pkey primary key (host_id, container_type),
  constraint host_images_host_id_fkey foreign key (host_id) references hosts(id) on delete cascade,
  constraint host_images_state_check check (state in ('ready', 'preparing', 'unavailable'))
);

create table hosted_changes (
  user_id text not null,
  due_at timestamptz not null default now(),
  lease_token text,
  lease_expires_at timestamptz,
  attempts integer not null default 0,
  last_error text,
  constraint hosted_changes_pkey primary key (user_id)
);

create table hosts (
  id text not null,
  kind text not null,
  isolation text not null default 'none',
  pause boolean not null default true,
  drained_at timestamptz,
  address text,
  home_root text,
  reach text,
  removed_at timestamptz,
  away_since timestamptz,
  is_open boolean not null generated always as (((drained_at IS NULL) AND (away_since IS NULL) AND (lost_at IS NULL))) stored,
  lost_at timestamptz,
  moving_since timestamptz,
  new_homes integer,
  options jsonb,
  cluster text,
  constraint hosts_pkey primary key (id),
  constraint hosts_check check ((options is not null) = (address is not null and kind = 'kubernetes') and (home_root is not null) = (address is not null and kind <> 'kubernetes') and (reach is not null) = (address is not null and kind <> 'kubernetes')),
  constraint hosts_check1 check (removed_at is null or drained_at is not null),
  constraint hosts_kind_check check (kind in ('process', 'docker', 'kubernetes', 'fake'))
);

create table identity_code (
  hash bytea not null,
  user_id text not null,
  kind text not null,
  email text not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  created_at timestamptz not null default now(),
  issuer text,
  constraint identity_code_pkey primary key (hash),
  constraint identity_code_kind_check check (kind in ('PASSWORD_RESET', 'VERIFY_EMAIL', 'SIGN_IN')),
  constraint identity_code_user_id_fkey foreign key (user_id) references identity_user(id) on delete cascade
);
create index identity_code_user on identity_code (user_id, kind);

create table identity_key (
  kid text not null,
  alg text not null,
  public_jwk jsonb not null,
  private_sealed bytea not null,
  created_at timestamptz not null default now(),
  not_after timestamptz not null,
  constraint identity_key_pkey primary key (kid)
);

create table identity_known_browsers (
  user_id text not null,
  hash bytea not null,
  last_used_at timestamptz not null default now(),
  constraint identity_known_browsers_pkey primary key (user_id, hash),
  constraint identity_known_browsers_user_id_fkey foreign key (user_id) references identity_user(id) on delete cascade
);
create index identity_known_browsers_used on identity_known_browsers (last_used_at);

create table identity_links (
  id text not null,
  user_id text not null,
  issuer text not null,
  subject text not null,
  email text,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  constraint identity_links_pkey primary key (id),
  constraint identity_links_issuer_subject_key unique (issuer, subject),
  constraint identity_links_user_id_fkey foreign key (user_id) references identity_user(id) on delete cascade
);
create index identity_links_user on identity_links (user_id);

create table identity_passkeys (
  id text not null,
  user_id text not null,
  credential_id text not null,
  public_key bytea not null,
  sign_count bigint not null,
  name text not null,
  backed_up boolean not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  constraint identity_passkeys_pkey primary key (id),
  constraint identity_passkeys_credential_id_key unique (credential_id),
  constraint identity_passkeys_user_id_fkey foreign key (user_id) references identity_user(id) on delete cascade
);
create index identity_passkeys_user on identity_passkeys (user_id);

create table identity_pending_sign_ins (
  hash bytea not null,
  user_id text not null,
  sign_in_provider text not null,
  tries integer not null default 0,
  expires_at timestamptz not null,
  issuer text,
  constraint identity_pending_sign_ins_pkey primary key (hash),
  constraint identity_pending_sign_ins_sign_in_provider_check check (sign_in_provider in ('password', 'custom')),
  constraint identity_pending_sign_ins_user_id_fkey foreign key (user_id) references identity_user(id) on delete cascade
);
create index identity_pending_sign_ins_user on identity_pending_sign_ins (user_id);

create table identity_provider_attempts (
  state_hash bytea not null,
  browser_hash bytea not null,
  provider text not null,
  sealed bytea not null,
  return_to text not null,
  link_user text,
  used_at timestamptz,
  code_hash bytea,
  expires_at timestamptz not null,
  constraint identity_provider_attempts_pkey primary key (state_hash),
  constraint identity_provider_attempts_code_hash_key unique (code_hash),
  constraint identity_provider_attempts_link_user_fkey foreign key (link_user) references identity_user(id) on delete cascade
);
create index identity_provider_attempts_user on identity_provider_attempts (link_user);

create table identity_recovery_codes (
  user_id text not null,
  hash bytea not null,
  used_at timestamptz,
  constraint identity_recovery_codes_pkey primary key (user_id, hash),
  constraint identity_recovery_codes_user_id_fkey foreign key (user_id) references identity_second_factors(user_id) on delete cascade
);

create table identity_second_factors (
  user_id text not null,
  secret_sealed bytea not null,
  created_at timestamptz not null default now(),
  confirmed_at timestamptz,
  last_step bigint,
  constraint identity_second_factors_pkey primary key (user_id),
  constraint identity_second_factors_user_id_fkey foreign key (user_id) references identity_user(id) on delete cascade
);

create table identity_session (
  id text not null,
  user_id text not null,
  generation integer not null default 1,
  rotated_at timestamptz not null default now(),
  auth_time timestamptz not null default now(),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  revoked_reason text,
  user_agent text,
  ip text,
  sign_in_provider text not null default 'password',
  issuer text,
  constraint identity_session_pkey primary key (id),
  constraint identity_session_sign_in_provider_check check (sign_in_provider in ('password', 'custom', 'passkey')),
  constraint identity_session_user_id_fkey foreign key (user_id) references identity_user(id) on delete cascade
);
create index identity_session_from on identity_session (user_id, created_at desc);
create index identity_session_user on identity_session (user_id) where revoked_at is null;
create trigger identity_session_ended after update on identity_session for each row when (old.revoked_at is null and new.revoked_at is not null) execute function tell_change('session');

create table identity_spent_challenges (
  hash bytea not null,
  expires_at timestamptz not null,
  constraint identity_spent_challenges_pkey primary key (hash)
);

create table identity_trusted_browsers (
  hash bytea not null,
  user_id text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint identity_trusted_browsers_pkey primary key (hash),
  constraint identity_trusted_browsers_user_id_fkey foreign key (user_id) references identity_user(id) on delete cascade
);
create index identity_trusted_browsers_user on identity_trusted_browsers (user_id);

create table identity_user (
  id text not null,
  email text not null,
  email_key text not null,
  password_hash text,
  name text,
  email_verified boolean not null default false,
  disabled boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  signed_in_since timestamptz,
  constraint identity_user_pkey primary key (id),
  constraint identity_user_email_key_key unique (email_key)
);
create trigger identity_user_deleted after delete on identity_user for each row when (old.signed_in_since is not null) execute function tell_provider();
create trigger identity_user_suspended after update on identity_user for each row when (new.signed_in_since is not null and old.disabled is distinct from new.disabled) execute function tell_provider();

create table installation (
  id text not null,
  one boolean not null default true,
  started_at timestamptz not null default now(),
  secret_fingerprint text,
  constraint installation_pkey primary key (id),
  constraint installation_one_check check (one),
  constraint installation_one_key unique (one)
);

create table invoice_series (
  series text not null,
  year integer not null,
  next_no integer not null,
  constraint invoice_series_pkey primary key (series, year)
);

create table journal (
  id text not null,
  kind text not null,
  source_id text not null,
  at timestamptz not null default now(),
  constraint journal_pkey primary key (id),
  constraint journal_kind_check check (kind in ('capture', 'fee', 'refund_asked', 'refund_failed', 'refund_arrived', 'external_refund', 'session_over', 'dispute_lost', 'refund_waived')),
  constraint journal_kind_source_id_key unique (kind, source_id)
);
create index journal_newest on journal (at);
create trigger journal_append_only before delete or update on journal for each statement execute function refuse_change();

create table journal_lines (
  entry_id text not null,
  account text not null,
  order_id text not null,
  currency text not null,
  amount_minor bigint not null,
  constraint journal_lines_pkey primary key (entry_id, account),
  constraint journal_lines_account_check check (account in ('gateway', 'prepaid', 'revenue', 'refunds_payable', 'fees', 'disputes')),
  constraint journal_lines_amount_minor_check check (amount_minor <> 0),
  constraint journal_lines_entry_id_fkey foreign key (entry_id) references journal(id),
  constraint journal_lines_order_id_fkey foreign key (order_id) references orders(id)
);
create index journal_lines_order on journal_lines (order_id, account);
create constraint trigger journal_balances after insert on journal_lines deferrable initially deferred for each row execute function check_balance();
create trigger journal_lines_append_only before delete or update on journal_lines for each statement execute function refuse_change();

create table launch_stages (
  environment_id text not null,
  generation integer not null,
  stage text not null,
  at timestamptz not null default now(),
  constraint launch_stages_pkey primary key (environment_id, generation, stage),
  constraint launch_stages_environment_id_fkey foreign key (environment_id) references environments(id)
);

create table launch_times (
  environment_id text not null,
  warm boolean not null default false,
  ready_at timestamptz not null,
  placed_ms integer,
  image_ms integer,
  started_ms integer,
  answering_ms integer,
  ready_ms integer not null,
  constraint launch_times_pkey primary key (environment_id),
  constraint launch_times_environment_id_fkey foreign key (environment_id) references environments(id)
);
create index launch_times_month on launch_times (ready_at);

create table mails (
  id text not null,
  cause text not null,
  user_id text not null,
  recipient text not null,
  subject text not null,
  body_text text not null,
  body_html text not null,
  status text not null default 'queued',
  created_at timestamptz not null default now(),
  useful_until timestamptz not null,
  ended_at timestamptz,
  due_at timestamptz not null default now(),
  attempts integer not null default 0,
  last_error text,
  lease_token uuid,
  lease_expires_at timestamptz,
  constraint mails_pkey primary key (id),
  constraint mails_cause_key unique (cause),
  constraint mails_check check ((status = 'queued') = (ended_at is null)),
  constraint mails_check1 check (status = 'queued' or body_text = '' and body_html = ''),
  constraint mails_lease check ((lease_token is null) = (lease_expires_at is null)),
  constraint mails_status_check check (status in ('queued', 'sent', 'refused', 'lapsed'))
);
create index mails_due on mails (greatest(due_at, lease_expires_at)) where status = 'queued';
create index mails_user on mails (user_id);
create trigger mails_alive before insert on mails for each row execute function skip_deleted();
create trigger mails_inserted after insert on mails for each row execute function tell_change('mail');

create table mining_findings (
  id text not null,
  environment_id text not null,
  user_id text not null,
  generation integer not null,
  kind text not null,
  evidence jsonb not null,
  found_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  ended boolean not null default false,
  dismissed_at timestamptz,
  constraint mining_findings_pkey primary key (id),
  constraint mining_findings_environment_id_fkey foreign key (environment_id) references environments(id),
  constraint mining_findings_environment_id_generation_kind_key unique (environment_id, generation, kind),
  constraint mining_findings_evidence_check check (jsonb_typeof(evidence) = 'object'),
  constraint mining_findings_kind_check check (kind in ('program', 'pool', 'gpu'))
);
create index mining_findings_open on mining_findings (environment_id) where dismissed_at is null;
create index mining_findings_user on mining_findings (user_id);

create table notifications (
  id text not null,
  user_id text not null,
  cause text not null,
  title text not null,
  body text not null,
  link text,
  created_at timestamptz not null default now(),
  read_at timestamptz,
  constraint notifications_pkey primary key (id),
  constraint notifications_user_id_cause_key unique (user_id, cause)
);
create index notifications_newest on notifications (user_id, created_at desc);
create trigger notifications_alive before insert on notifications for each row execute function skip_deleted();
create trigger notifications_changed after insert or update on notifications for each row execute function tell_change('notification');

create table operator_links (
  hash bytea not null,
  operator_id text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  address text,
  browser bytea,
  factor_sealed bytea,
  used_at timestamptz,
  constraint operator_links_pkey primary key (hash),
  constraint operator_links_check check (num_nulls(address, browser) in (0, 2)),
  constraint operator_links_operator_id_fkey foreign key (operator_id) references operators(id) on delete cascade
);
create index operator_links_operator on operator_links (operator_id);

create table operator_recovery_codes (
  operator_id text not null,
  hash bytea not null,
  used_at timestamptz,
  constraint operator_recovery_codes_pkey primary key (operator_id, hash),
  constraint operator_recovery_codes_operator_id_fkey foreign key (operator_id) references operators(id) on delete cascade
);

create table operator_sessions (
  id text not null,
  operator_id text not null,
  created_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  address text not null,
  constraint operator_sessions_pkey primary key (id),
  constraint operator_sessions_operator_id_fkey foreign key (operator_id) references operators(id) on delete cascade
);
create index operator_sessions_operator on operator_sessions (operator_id);

create table operators (
  id text not null,
  email text not null,
  email_key text not null,
  password_hash text,
  factor_sealed bytea,
  factor_step bigint,
  created_at timestamptz not null default now(),
  constraint operators_pkey primary key (id),
  constraint operators_check check (password_hash is not null or factor_sealed is null),
  constraint operators_email_key_key unique (email_key)
);

create table orders (
  id text not null,
  user_id text not null,
  status text not null,
  container_type text not null,
  subdomain text not null,
  gpu_count integer not null,
  duration_hours integer not null,
  usd_minor bigint not null,
  amount_minor bigint not null,
  currency text not null,
  inr_paise_per_usd integer not null,
  gateway text not null,
  mode text not null,
  gateway_order_id text,
  request_hash text not null,
  created_at timestamptz not null default now(),
  hold_until timestamptz not null,
  watch_until timestamptz not null,
  paid_at timestamptz,
  deliver_by timestamptz,
  closed_at timestamptz,
  usd_net_minor bigint not null default 0,
  hours numeric(8,2) not null default 0,
  due_at timestamptz,
  attempts integer not null default 0,
  last_error text,
  extends text,
  lease_token uuid,
  lease_expires_at timestamptz,
  constraint orders_pkey primary key (id),
  constraint orders_amount_minor_check check ((gateway = 'credit') = (amount_minor = 0) and amount_minor >= 0),
  constraint orders_check check ((paid_at is not null) = (status in ('paid', 'fulfilled', 'refunding', 'refunded'))),
  constraint orders_check1 check ((status not in ('draft', 'open', 'paid', 'refunding')) or due_at is not null),
  constraint orders_check2 check (status = 'draft' or status = 'expired' or gateway_order_id is not null),
  constraint orders_container_type_check check (container_type ~ '^[a-z0-9][a-z0-9-]{0,30}$'),
  constraint orders_credit_check check (gateway <> 'credit' or extends is null),
  constraint orders_currency_check check (currency ~ '^[A-Z]{3}$'),
  constraint orders_duration_hours_check check (duration_hours > 0),
  constraint orders_extends_fkey foreign key (extends) references environments(id),
  constraint orders_gateway_gateway_order_id_key unique (gateway, gateway_order_id),
  constraint orders_gpu_count_check check (gpu_count > 0),
  constraint orders_inr_paise_per_usd_check check (inr_paise_per_usd > 0),
  constraint orders_lease check ((num_nulls(lease_token, lease_expires_at) in (0, 2)) and (lease_token is null or due_at is not null)),
  constraint orders_mode_check check (mode in ('embedded', 'test', 'live')),
  constraint orders_status_check check (status in ('draft', 'open', 'cancelled', 'expired', 'paid', 'fulfilled', 'refunding', 'refunded')),
  constraint orders_usd_minor_check check ((gateway = 'credit') = (usd_minor = 0) and usd_minor >= 0)
);
create unique index one_unpaid_order_per_user on orders (user_id) where status in ('draft', 'open');
create index orders_created on orders (created_at desc, id desc);
create index orders_extends on orders (extends) where extends is not null;
create index orders_newest on orders (user_id, created_at desc, id desc);
create index orders_paid on orders (user_id, paid_at) include (usd_net_minor, container_type, hours);
create index orders_paid_due on orders (greatest(due_at, lease_expires_at)) where status = 'paid';
create index orders_unpaid on orders (watch_until) where status in ('cancelled', 'expired');
create index orders_unpaid_due on orders (greatest(due_at, lease_expires_at)) where status <> 'paid';
create trigger orders_changed after update on orders for each row when (old.status is distinct from new.status) execute function tell_change('order');
create trigger orders_inserted after insert on orders for each row execute function tell_change('order');

create table payments (
  id text not null,
  order_id text not null,
  user_id text not null,
  gateway text not null,
  gateway_payment_id text not null,
  status text not null,
  rank integer not null generated always as ( CASE status WHEN 'created' THEN 0 WHEN 'failed' THEN 1 WHEN 'authorized' THEN 2 ELSE 3 END) stored,
  settles_order boolean not null default false,
  amount_minor bigint not null,
  currency text not null,
  refund_minor bigint not null default 0,
  method text,
  card_network text,
  card_last4 text,
  fee_minor bigint,
  error_code text,
  error_reason text,
  created_at timestamptz not null default now(),
  captured_at timestamptz,
  paid_from text,
  constraint payments_pkey primary key (id),
  constraint payments_amount_minor_check check (amount_minor > 0),
  constraint payments_check check (refund_minor >= 0 and refund_minor <= amount_minor),
  constraint payments_check1 check (not settles_order or status = 'captured'),
  constraint payments_gateway_gateway_payment_id_key unique (gateway, gateway_payment_id),
  constraint payments_order_id_fkey foreign key (order_id) references orders(id),
  constraint payments_status_check check (status in ('created', 'failed', 'authorized', 'captured'))
);
create unique index one_settling_payment on payments (order_id) where settles_order;
create unique index payments_invoice_number on payments ("left"(id, 11));
create index payments_newest on payments (user_id, created_at desc);
create index payments_order on payments (order_id);

create table processes (
  id text not null,
  roles text[] not null,
  version text not null,
  migration text not null,
  host_name text not null,
  pid integer not null,
  settings jsonb not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  constraint processes_pkey primary key (id)
);

create table profiles (
  user_id text not null,
  email text not null,
  name text not null default '',
  phone text not null default '',
  created_at timestamptz not null default now(),
  constraint profiles_pkey primary key (user_id)
);
create trigger profiles_alive before insert on profiles for each row execute function skip_deleted();

create table queue_entries (
  id text not null,
  place bigint not null generated always as identity,
  user_id text not null,
  gpu_count integer not null,
  status text not null default 'waiting',
  asked_at timestamptz not null default now(),
  kept_host_id text,
  held_until timestamptz,
  told_at timestamptz,
  order_id text,
  closed_at timestamptz,
  kept_node text not null default '',
  constraint queue_entries_pkey primary key (id),
  constraint queue_entries_check check (status <> 'held' or held_until is not null),
  constraint queue_entries_check1 check ((status in ('waiting', 'held')) = (closed_at is null)),
  constraint queue_entries_check2 check (kept_host_id is null or status = 'waiting'),
  constraint queue_entries_gpu_count_check check (gpu_count > 0),
  constraint queue_entries_kept_host_id_fkey foreign key (kept_host_id) references hosts(id),
  constraint queue_entries_order_id_fkey foreign key (order_id) references orders(id),
  constraint queue_entries_order_id_key unique (order_id),
  constraint queue_entries_status_check check (status in ('waiting', 'held', 'taken', 'lapsed', 'left'))
);
create unique index one_place_per_user on queue_entries (user_id) where status in ('waiting', 'held');
create index queue_line on queue_entries (place) where status in ('waiting', 'held');
create index queue_user on queue_entries (user_id, place);
create trigger queue_alive before insert on queue_entries for each row execute function skip_deleted();
create trigger queue_changed after update on queue_entries for each row when (old.status is distinct from new.status or old.held_until is distinct from new.held_until) execute function tell_change('queue');
create trigger queue_inserted after insert on queue_entries for each row execute function tell_change('queue');

create table receipts (
  payment_id text not null,
  number text not null,
  user_id text not null,
  issued_at timestamptz not null default now(),
  document jsonb not null,
  tax_series text,
  tax_year integer,
  tax_no integer,
  constraint receipts_pkey primary key (payment_id),
  constraint receipts_check check (num_nulls(tax_series, tax_year, tax_no) in (0, 3)),
  constraint receipts_number_key unique (number),
  constraint receipts_payment_id_fkey foreign key (payment_id) references payments(id),
  constraint receipts_tax_series_tax_year_tax_no_key unique (tax_series, tax_year, tax_no)
);

create table refund_requests (
  id text not null,
  order_id text not null,
  user_id text not null,
  reason text not null,
  text text not null,
  status text not null default 'open',
  created_at timestamptz not null default now(),
  decided_at timestamptz,
  answer text not null default '',
  refund_id text,
  constraint refund_requests_pkey primary key (id),
  constraint refund_requests_check check ((status = 'open') = (decided_at is null)),
  constraint refund_requests_check1 check ((status = 'granted') = (refund_id is not null)),
  constraint refund_requests_order_id_fkey foreign key (order_id) references orders(id),
  constraint refund_requests_reason_check check (reason in ('partial_downtime', 'accidental_termination', 'maintenance', 'other', 'silent')),
  constraint refund_requests_refund_id_fkey foreign key (refund_id) references refunds(id),
  constraint refund_requests_refund_id_key unique (refund_id),
  constraint refund_requests_status_check check (status in ('open', 'granted', 'declined'))
);
create unique index one_open_refund_request on refund_requests (order_id) where status = 'open';
create index refund_requests_user on refund_requests (user_id, created_at desc);
create trigger refund_requests_alive before insert on refund_requests for each row execute function skip_deleted();

create table refunds (
  id text not null,
  payment_id text not null,
  amount_minor bigint not null,
  currency text not null,
  reason text not null,
  status text not null,
  gateway_refund_id text,
  arn text,
  created_at timestamptz not null default now(),
  processed_at timestamptz,
  due_at timestamptz,
  attempts integer not null default 0,
  last_error text,
  lease_token uuid,
  lease_expires_at timestamptz,
  constraint refunds_pkey primary key (id),
  constraint refunds_amount_minor_check check (amount_minor > 0),
  constraint refunds_check check ((status = 'processed') = (processed_at is not null)),
  constraint refunds_check1 check ((status in ('processed', 'waived')) or due_at is not null),
  constraint refunds_gateway_refund_id_key unique (gateway_refund_id),
  constraint refunds_lease check ((num_nulls(lease_token, lease_expires_at) in (0, 2)) and (lease_token is null or due_at is not null)),
  constraint refunds_payment_id_fkey foreign key (payment_id) references payments(id),
  constraint refunds_reason_check check (reason in ('not_delivered', 'silent', 'cancelled', 'late_payment', 'surplus_payment', 'wrong_amount', 'hardware', 'discretionary', 'external')),
  constraint refunds_status_check check (status in ('queued', 'sent', 'processed', 'failed', 'waived'))
);
create unique index one_refund_per_reason on refunds (payment_id, reason) where reason not in ('discretionary', 'external');
create index refunds_due on refunds (greatest(due_at, lease_expires_at)) where status not in ('processed', 'waived');
create index refunds_payment on refunds (payment_id);

create table samples (
  environment_id text not null,
  span_seconds integer not null,
  at timestamptz not null,
  looks integer not null,
  cpu_cores real not null,
  memory_mb real not null,
  home_mb real not null,
  received_bytes_per_second real,
  sent_bytes_per_second real,
  constraint samples_pkey primary key (environment_id, span_seconds, at),
  constraint samples_environment_id_fkey foreign key (environment_id) references environments(id),
  constraint samples_looks_check check (looks > 0),
  constraint samples_span_seconds_check check (span_seconds in (60, 600))
);
create index samples_old on samples (span_seconds, at);

create table sessions (
  id text not null,
  environment_id text not null,
  opened_at timestamptz not null default now(),
  closed_at timestamptz,
  reason text,
  user_id text not null,
  container_type text not null,
  constraint sessions_pkey primary key (id),
  constraint sessions_environment_id_fkey foreign key (environment_id) references environments(id)
);
create unique index one_open_session on sessions (environment_id) where closed_at is null;
create index sessions_newest on sessions (environment_id, opened_at desc);
create index sessions_run on sessions (user_id) include (container_type, opened_at, closed_at);

create table share_links (
  id text not null,
  hash bytea not null,
  user_id text not null,
  environment_id text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  views integer not null default 0,
  last_viewed_at timestamptz,
  constraint share_links_pkey primary key (id),
  constraint share_links_environment_id_fkey foreign key (environment_id) references environments(id),
  constraint share_links_hash_key unique (hash),
  constraint share_links_views_check check (views >= 0)
);
create index share_links_of_user on share_links (user_id) where revoked_at is null;
create index share_links_open on share_links (environment_id) where revoked_at is null;
create trigger share_links_changed after insert or update on share_links for each row execute function tell_share();

create table sign_in_codes (
  hash bytea not null,
  user_id text not null,
  environment_id text not null,
  auth_session text,
  expires_at timestamptz not null,
  used_at timestamptz,
  visit bytea,
  port integer,
  constraint sign_in_codes_pkey primary key (hash),
  constraint sign_in_codes_environment_id_fkey foreign key (environment_id) references environments(id),
  constraint sign_in_codes_port_check check (port >= 1024 and port <= 65535)
);

create table ssh_keys (
  id text not null,
  user_id text not null,
  name text not null,
  type text not null,
  fingerprint text not null,
  public_key text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  constraint ssh_keys_pkey primary key (id),
  constraint ssh_keys_fingerprint_key unique (fingerprint),
  constraint ssh_keys_user_id_fkey foreign key (user_id) references identity_user(id) on delete cascade
);
create index ssh_keys_user on ssh_keys (user_id);
create trigger ssh_keys_removed after delete on ssh_keys for each row execute function tell_key();

create table subdomain_claims (
  name text not null,
  user_id text not null,
  order_id text,
  held_until timestamptz,
  retained_until timestamptz,
  constraint subdomain_claims_pkey primary key (name),
  constraint subdomain_claims_order_id_key unique (order_id)
);

create table support_tickets (
  id text not null,
  user_id text not null,
  code text not null,
  issue_type text not null,
  description text not null,
  email text not null,
  created_at timestamptz not null default now(),
  closed_at timestamptz,
  constraint support_tickets_pkey primary key (id)
);
create index support_tickets_user on support_tickets (user_id, created_at desc);
create trigger support_tickets_alive before insert on support_tickets for each row execute function skip_deleted();

create table ticket_answers (
  id text not null,
  ticket_id text not null,
  user_id text not null,
  text text not null,
  answered_at timestamptz not null default now(),
  constraint ticket_answers_pkey primary key (id),
  constraint ticket_answers_text_check check (text <> ''),
  constraint ticket_answers_ticket_id_fkey foreign key (ticket_id) references support_tickets(id) on delete cascade
);
create index ticket_answers_ticket on ticket_answers (ticket_id, answered_at);
create trigger ticket_answers_alive before insert on ticket_answers for each row execute function skip_deleted();

create table time_credits (
  id text not null,
  user_id text not null,
  order_id text not null,
  gpu_hours integer not null,
  reason text not null,
  granted_at timestamptz not null default now(),
  used_by_order text,
  constraint time_credits_pkey primary key (id),
  constraint time_credits_hours_check check (gpu_hours > 0),
  constraint time_credits_order_id_fkey foreign key (order_id) references orders(id),
  constraint time_credits_order_id_reason_key unique (order_id, reason),
  constraint time_credits_used_by_order_fkey foreign key (used_by_order) references orders(id),
  constraint time_credits_used_by_order_key unique (used_by_order)
);
create unique index one_open_credit on time_credits (user_id) where used_by_order is null;

create table user_flags (
  user_id text not null,
  email_notifications boolean not null default true,
  billing_alerts boolean not null default true,
  security_alerts boolean not null default true,
  marketing_emails boolean not null default false,
  two_factor_auth boolean not null default false,
  constraint user_flags_pkey primary key (user_id)
);
create trigger user_flags_alive before insert on user_flags for each row execute function skip_deleted();

create table voucher_batches (
  id text not null,
  gpu_hours integer not null,
  reason text not null,
  per_month integer,
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  alone boolean not null default false,
  constraint voucher_batches_pkey primary key (id),
  constraint voucher_batches_gpu_hours_check check (gpu_hours > 0),
  constraint voucher_batches_per_month_check check (per_month > 0),
  constraint voucher_batches_reason_check check (reason <> '')
);

create table vouchers (
  id text not null,
  batch_id text not null,
  code_hash bytea not null,
  user_id text,
  redeemed_at timestamptz,
  credit_id text,
  revoked_at timestamptz,
  constraint vouchers_pkey primary key (id),
  constraint vouchers_batch_id_fkey foreign key (batch_id) references voucher_batches(id),
  constraint vouchers_check check (num_nulls(user_id, redeemed_at, credit_id) in (0, 3)),
  constraint vouchers_check1 check (num_nonnulls(redeemed_at, revoked_at) < 2),
  constraint vouchers_code_hash_check check (length(code_hash) = 32),
  constraint vouchers_code_hash_key unique (code_hash),
  constraint vouchers_credit_id_fkey foreign key (credit_id) references granted_credits(id),
  constraint vouchers_credit_id_key unique (credit_id)
);
create unique index one_voucher_per_account on vouchers (batch_id, user_id) where user_id is not null;
create index vouchers_batch on vouchers (batch_id, redeemed_at);

create table warm_runs (
  id text not null,
  host_id text not null,
  container_type text not null,
  gpus text[] not null,
  home text not null,
  run_token text not null,
  state text not null default 'starting',
  order_id text,
  created_at timestamptz not null default now(),
  due_at timestamptz not null default now(),
  attempts integer not null default 0,
  lease_token uuid,
  lease_expires_at timestamptz,
  constraint warm_runs_pkey primary key (id),
  constraint warm_runs_check check (order_id is null or state = 'ready'),
  constraint warm_runs_check1 check (cardinality(gpus) > 0 or state = 'ending'),
  constraint warm_runs_host_id_fkey foreign key (host_id) references hosts(id),
  constraint warm_runs_lease check ((lease_token is null) = (lease_expires_at is null)),
  constraint warm_runs_order_id_fkey foreign key (order_id) references orders(id),
  constraint warm_runs_order_id_key unique (order_id),
  constraint warm_runs_state_check check (state in ('starting', 'ready', 'ending'))
);
create index warm_runs_due on warm_runs (greatest(due_at, lease_expires_at));

create table workers (
  id text not null,
  machine text not null,
  host_name text not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  constraint workers_pkey primary key (id)
);

create function check_balance() returns trigger language plpgsql as $$
begin
  if exists (select 1 from journal_lines where entry_id = new.entry_id group by currency having sum(amount_minor) <> 0) then
    raise exception 'journal entry % does not balance', new.entry_id;
  end if;
  return null;
end $$;

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'the journal is append-only';
end $$;

create function refuse_rewrite() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name;
end $$;

create function skip_deleted() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended(new.user_id, 6));
  if exists (select 1 from deleted_accounts where user_id = new.user_id) then return null; end if;
  return new;
end $$;

create function tell_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', json_build_object('kind', tg_argv[0], 'id', new.id, 'user', new.user_id)::text);
  return null;
end $$;

create function tell_event() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', json_build_object('kind', 'gateway_event', 'id', new.event_id, 'user', '')::text);
  return null;
end $$;

create function tell_key() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', json_build_object('kind', 'ssh_key', 'id', old.id, 'user', old.user_id)::text);
  return null;
end $$;

create function tell_move() returns trigger language plpgsql as $$
declare move home_moves := coalesce(new, old);
begin
  perform pg_notify('changes', json_build_object('kind', 'environment', 'id', e.id, 'user', e.user_id)::text)
    from environments e join homes h on h.id = move.id and h.home = e.home and h.host_id = e.host_id
    where e.user_id = move.user_id and e.status <> 'terminated';
  return null;
end $$;

create function tell_provider() returns trigger language plpgsql as $$
begin
  insert into hosted_changes (user_id) values (old.id)
    on conflict (user_id) do update set due_at = now(), lease_token = null, lease_expires_at = null, attempts = 0;
  return null;
end $$;

create function tell_share() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', json_build_object('kind', 'environment', 'id', new.environment_id, 'user', new.user_id)::text);
  return null;
end $$;
