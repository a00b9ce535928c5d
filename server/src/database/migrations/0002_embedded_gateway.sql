-- The embedded payment gateway (docs/internals/money.md). It stands for a company of its own: no other code reads these
-- tables.

create table embedded_gateway_account (
  one boolean primary key default true check (one),
  key_id text not null,
  key_secret text not null,
  created_at timestamptz not null default now()
);

create table embedded_gateway_orders (
  id text primary key,
  receipt text,                                       -- not unique, as at the real one: that is why a lost answer needs a look-up
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  capture text not null check (capture in ('automatic', 'manual')),
  status text not null default 'created' check (status in ('created', 'attempted', 'paid')),
  attempts integer not null default 0,
  notes jsonb not null default '{}',
  created_at timestamptz not null default now()
);
create index embedded_gateway_orders_receipt on embedded_gateway_orders (receipt);

create table embedded_gateway_payments (
  id text primary key,
  order_id text not null references embedded_gateway_orders,
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  status text not null check (status in ('created', 'authorized', 'captured', 'failed')),
  refunded_minor bigint not null default 0,
  card_network text not null,
  card_last4 text not null,
  error_reason text,
  error_description text,
  created_at timestamptz not null default now(),
  check (refunded_minor between 0 and amount_minor),
  check (refunded_minor = 0 or status = 'captured')
);
create index embedded_gateway_payments_order on embedded_gateway_payments (order_id);

create table embedded_gateway_refunds (
  id text primary key,
  payment_id text not null references embedded_gateway_payments,
  amount_minor bigint not null check (amount_minor > 0),
  idempotency_key text,
  receipt text,
  notes jsonb not null default '{}',
  created_at timestamptz not null default now(),
  arrives_at timestamptz not null,                    -- pending until then, processed afterwards
  unique (payment_id, idempotency_key)
);
