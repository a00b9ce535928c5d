-- Money is bigint minor units beside a currency code; time is timestamptz; ids are 25 random characters of 0-9a-z.

create table installation (
  id text primary key,                                -- labels what a driver runs, so two installations never reap each other
  one boolean not null default true unique check (one),
  started_at timestamptz not null default now()       -- the beta counts from here unless configured (G34)
);

-- Identity (docs/internals/identity.md)

create table identity_user (
  id text primary key,
  email text not null,
  email_key text not null unique,                     -- trim, NFKC, lower case: the login key
  password_hash text,                                 -- PHC string
  name text,
  email_verified boolean not null default false,
  disabled boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table identity_session (                       -- one signed-in device; the refresh token is id.generation.mac, only the counter is stored
  id text primary key,
  user_id text not null references identity_user on delete cascade,
  generation integer not null default 1,
  rotated_at timestamptz not null default now(),
  auth_time timestamptz not null default now(),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  revoked_reason text,
  user_agent text,
  ip text
);
create index identity_session_user on identity_session (user_id) where revoked_at is null;

create table identity_code (
  hash bytea primary key,                             -- SHA-256 of a 256-bit secret
  user_id text not null references identity_user on delete cascade,
  kind text not null check (kind in ('PASSWORD_RESET', 'VERIFY_EMAIL', 'SIGN_IN')),
  email text not null,                                -- a code dies when the address changes
  expires_at timestamptz not null,
  used_at timestamptz,
  created_at timestamptz not null default now()
);
create index identity_code_user on identity_code (user_id, kind);

create table identity_key (
  kid text primary key,
  alg text not null,
  public_jwk jsonb not null,
  private_sealed bytea not null,                      -- AES-256-GCM under a key derived from the installation's secret
  created_at timestamptz not null default now(),
  not_after timestamptz not null                      -- stops signing here; still verifies two hours longer
);

create table profiles (
  user_id text primary key,
  email text not null,
  name text not null default '',
  phone text not null default '',
  created_at timestamptz not null default now()
);

create table notifications (
  id text primary key,
  user_id text not null,
  cause text not null,                                -- one notification per user and cause, however often it is asked for
  title text not null,
  body text not null,
  link text,
  created_at timestamptz not null default now(),
  read_at timestamptz,
  unique (user_id, cause)
);
create index notifications_newest on notifications (user_id, created_at desc);

-- Capacity (docs/internals/runtime.md)

create table hosts (
  id text primary key,
  kind text not null check (kind in ('process', 'docker', 'kubernetes', 'fake')),
  isolation text not null default 'none',
  pause boolean not null default true,                -- whether a run can be frozen there
  seen_at timestamptz not null default now(),
  drained_at timestamptz
);

create table host_images (                            -- what `prepare` reached on each host
  host_id text not null references hosts on delete cascade,
  container_type text not null,
  state text not null check (state in ('ready', 'preparing', 'unavailable')),
  percent integer,
  message text not null default '',
  updated_at timestamptz not null default now(),
  primary key (host_id, container_type)
);

create table gpus (
  id text primary key,                                -- UUID of a GPU; a slot name where there is none
  host_id text not null references hosts on delete cascade,
  kind text not null check (kind in ('gpu', 'cpu')),
  model text not null default '',
  memory_mb integer not null default 0,
  quarantined_at timestamptz
);

create table gpu_leases (
  id text primary key,
  gpu_id text not null references gpus,
  holder_kind text not null check (holder_kind in ('order', 'environment', 'pool')),
  holder_id text not null,
  hold_until timestamptz,                             -- of an order's hold; null once an environment holds it
  created_at timestamptz not null default now(),
  released_at timestamptz
);
create unique index one_lease_per_gpu on gpu_leases (gpu_id) where released_at is null;
create index gpu_leases_holder on gpu_leases (holder_kind, holder_id) where released_at is null;

create table subdomain_claims (
  name text primary key,
  user_id text not null,
  order_id text unique,                               -- the order or environment's order that holds it now; null while only retained
  held_until timestamptz,                             -- end of an unpaid hold
  retained_until timestamptz                          -- files of an ended environment are kept and the name stays its owner's (G31)
);

-- Orders and payments (docs/internals/money.md)

create table orders (
  id text primary key,                                -- the provider's receipt
  user_id text not null,
  status text not null check (status in ('draft', 'open', 'cancelled', 'expired', 'paid', 'fulfilled', 'refunding', 'refunded')),
  container_type text not null check (container_type in ('jupyter', 'pytorch', 'tensorflow')),
  subdomain text not null,
  gpu_count integer not null check (gpu_count > 0),
  duration_hours integer not null check (duration_hours > 0),
  usd_minor bigint not null check (usd_minor > 0),
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null check (currency in ('USD', 'INR')),
  inr_paise_per_usd integer not null check (inr_paise_per_usd > 0),   -- frozen with the order (G7)
  gateway text not null,
  mode text not null check (mode in ('embedded', 'test', 'live')),
  gateway_order_id text,
  request_hash text not null,                         -- of the whole container request and currency
  created_at timestamptz not null default now(),
  hold_until timestamptz not null,
  watch_until timestamptz not null,
  paid_at timestamptz,
  deliver_by timestamptz,
  closed_at timestamptz,
  usd_net_minor bigint not null default 0,            -- list price less what was refunded; billing reads it (G20)
  hours numeric(8, 2) not null default 0,             -- booked, bonus included
  next_check_at timestamptz,
  claim uuid,
  attempts integer not null default 0,
  last_error text,
  unique (gateway, gateway_order_id),
  check ((paid_at is not null) = (status in ('paid', 'fulfilled', 'refunding', 'refunded'))),
  check (status not in ('draft', 'open', 'paid', 'refunding') or next_check_at is not null),
  check (status = 'draft' or status = 'expired' or gateway_order_id is not null)
);
create unique index one_unpaid_order_per_user on orders (user_id) where status in ('draft', 'open');
create index orders_deliver on orders (next_check_at) where status = 'paid';
create index orders_watch on orders (next_check_at) where status <> 'paid';
create index orders_newest on orders (user_id, created_at desc, id desc);
create index orders_paid on orders (user_id, paid_at) include (usd_net_minor, container_type, hours);

create table payments (
  id text primary key,
  order_id text not null references orders,
  user_id text not null,
  gateway text not null,
  gateway_payment_id text not null,
  status text not null check (status in ('created', 'failed', 'authorized', 'captured')),
  rank integer not null generated always as
    (case status when 'created' then 0 when 'failed' then 1 when 'authorized' then 2 else 3 end) stored,
  settles_order boolean not null default false,
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  refund_minor bigint not null default 0,             -- asked for and not failed
  method text,
  card_network text,
  card_last4 text,
  fee_minor bigint,
  error_code text,
  error_reason text,
  created_at timestamptz not null default now(),
  captured_at timestamptz,
  unique (gateway, gateway_payment_id),
  check (refund_minor between 0 and amount_minor),
  check (not settles_order or status = 'captured')
);
create unique index one_settling_payment on payments (order_id) where settles_order;
create unique index payments_invoice_number on payments (left(id, 11));
create index payments_order on payments (order_id);
create index payments_newest on payments (user_id, created_at desc);

create table refunds (
  id text primary key,                                -- derived from payment and reason: the provider's idempotency key
  payment_id text not null references payments,
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  reason text not null check (reason in
    ('not_delivered', 'cancelled', 'late_payment', 'surplus_payment', 'wrong_amount', 'hardware', 'external')),
  status text not null check (status in ('queued', 'sent', 'processed', 'failed')),
  gateway_refund_id text unique,
  arn text,
  created_at timestamptz not null default now(),
  processed_at timestamptz,
  next_check_at timestamptz,
  claim uuid,
  attempts integer not null default 0,
  last_error text,
  check ((status = 'processed') = (processed_at is not null)),
  check (status = 'processed' or next_check_at is not null)
);
create unique index one_refund_per_reason on refunds (payment_id, reason) where reason <> 'external';
create index refunds_due on refunds (next_check_at) where status <> 'processed';

create table time_credits (                           -- two hours owed after a delivery that failed (G15)
  id text primary key,
  user_id text not null,
  order_id text not null references orders,
  hours integer not null check (hours > 0),
  reason text not null,
  granted_at timestamptz not null default now(),
  used_by_order text unique references orders,
  unique (order_id, reason)
);

-- Environments (docs/internals/runtime.md)

create table environments (
  id text primary key,
  order_id text not null unique references orders,
  user_id text not null,
  container_type text not null,
  subdomain text not null,
  gpu_count integer not null check (gpu_count > 0),
  duration_hours integer not null check (duration_hours > 0),
  host_id text not null references hosts,
  home text not null,                                 -- one per owner and subdomain (G31)
  desired text not null default 'running' check (desired in ('running', 'paused', 'stopped', 'terminated')),
  status text not null default 'pending' check (status in ('pending', 'active', 'paused', 'stopped', 'terminated', 'unknown')),
  generation integer not null default 0,              -- +1 for every new container
  secret text not null,                               -- what the API calls jupyter_token; checked by the gateway only (G95)
  run_token text,                                     -- JupyterLab's own, new at each cold start; never leaves the server
  endpoint jsonb,
  stage text,
  stage_percent integer,
  requested_at timestamptz not null default now(),
  give_up_at timestamptz not null,                    -- not answering by then: terminated and refunded
  first_attempt_at timestamptz,                       -- a worker took it: moves give_up_at, once, when that is late
  created_at timestamptz,                             -- JupyterLab answered for the first time (G28)
  expires_at timestamptz,
  banked_seconds bigint not null default 0 check (banked_seconds >= 0),
  terminated_at timestamptz,
  ended_reason text check (ended_reason in ('expired', 'terminated', 'cancelled', 'not_delivered', 'hardware', 'operator')),
  notice text not null default '',                    -- the last expiry notice sent: 24h, 1h, 10m
  due_at timestamptz not null default now(),
  claim uuid,
  attempts integer not null default 0,
  last_error text,
  check ((status = 'terminated') = (terminated_at is not null))
);
create unique index one_live_environment_per_name on environments (subdomain) where status <> 'terminated';
create unique index environments_display_name on environments (left(id, 8));
create index environments_due on environments (due_at) where status <> 'terminated';
create index environments_owner on environments (user_id);

create table launch_stages (
  environment_id text not null references environments,
  generation integer not null,
  stage text not null,
  at timestamptz not null default now(),
  primary key (environment_id, generation, stage)
);

create table sessions (                               -- one continuous run (G22)
  id text primary key,
  environment_id text not null references environments,
  opened_at timestamptz not null default now(),
  closed_at timestamptz,
  reason text
);
create unique index one_open_session on sessions (environment_id) where closed_at is null;

-- The gateway's sign-in (docs/internals/gateway.md)

create table sign_in_codes (
  hash bytea primary key,
  user_id text not null,
  environment_id text not null references environments,
  auth_session text,                                  -- the identity session that asked, so that sign-out ends what came of it
  expires_at timestamptz not null,
  used_at timestamptz
);

create table grants (                                 -- what a gateway cookie stands for
  id text primary key,
  user_id text not null,
  environment_id text not null references environments,
  auth_session text,
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
create index grants_live on grants (user_id) where revoked_at is null;

-- One channel tells every loop and every open page what changed. Claims and look-again times stay quiet.

create function tell_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', json_build_object('kind', tg_argv[0], 'id', new.id, 'user', new.user_id)::text);
  return null;
end $$;

create trigger environments_inserted after insert on environments for each row execute function tell_change('environment');
create trigger environments_changed after update on environments for each row
  when ((old.status, old.desired, old.generation, old.endpoint, old.stage, old.stage_percent, old.expires_at, old.secret, old.banked_seconds)
        is distinct from
        (new.status, new.desired, new.generation, new.endpoint, new.stage, new.stage_percent, new.expires_at, new.secret, new.banked_seconds))
  execute function tell_change('environment');
create trigger orders_inserted after insert on orders for each row execute function tell_change('order');
create trigger orders_changed after update on orders for each row
  when (old.status is distinct from new.status) execute function tell_change('order');
create trigger notifications_changed after insert or update on notifications for each row
  execute function tell_change('notification');
create trigger grants_changed after insert or update on grants for each row execute function tell_change('grant');
