-- Credits of GPU-hours without an order (G153): an operator's, a voucher's, and those that come back with a refund. A table
-- of their own, because the release before uses one open row of time_credits for each account.

create table granted_credits (
  id text primary key,
  user_id text not null,
  gpu_hours numeric(10, 2) not null check (gpu_hours > 0),
  source text not null check (source in ('operator', 'voucher', 'returned')),
  note text not null,                                              -- for its owner to read
  granted_at timestamptz not null default now(),
  from_order text references orders,                               -- whose refund returned it
  used_by_order text references orders,
  returned_hours numeric(10, 2) not null default 0,                -- of the used one: what came back as another
  revoked_at timestamptz,
  check (num_nonnulls(used_by_order, revoked_at) < 2),
  check (returned_hours between 0 and gpu_hours),
  check (returned_hours = 0 or used_by_order is not null),
  check ((source = 'returned') = (from_order is not null))
);
create index granted_credits_user on granted_credits (user_id, granted_at);
create index granted_credits_used on granted_credits (used_by_order);
create trigger granted_credits_alive before insert on granted_credits for each row execute function skip_deleted();

-- Vouchers (G155): codes that bring a credit. A code is 100 random bits, so its plain hash is enough.
create table voucher_batches (
  id text primary key,
  gpu_hours integer not null check (gpu_hours > 0),
  reason text not null check (reason <> ''),
  per_month integer check (per_month > 0),                         -- redeemed in a calendar month, in UTC
  expires_at timestamptz,
  created_at timestamptz not null default now()
);

create table vouchers (
  id text primary key,
  batch_id text not null references voucher_batches,
  code_hash bytea not null unique check (length(code_hash) = 32),
  user_id text,
  redeemed_at timestamptz,
  credit_id text unique references granted_credits,
  revoked_at timestamptz,
  check (num_nulls(user_id, redeemed_at, credit_id) in (0, 3)),
  check (num_nonnulls(redeemed_at, revoked_at) < 2)
);
create index vouchers_batch on vouchers (batch_id, redeemed_at);
create unique index one_voucher_per_account on vouchers (batch_id, user_id) where user_id is not null;
