-- How far back the provider's list of payments has been read (docs/internals/money.md): one row for each account and
-- mode.

create table gateway_sweeps (
  key_id text primary key,                            -- of the account in its mode: other keys have a row of their own
  swept_until timestamptz not null,
  next_at timestamptz not null default now()          -- in the future while a worker is at it
);

create index embedded_gateway_payments_created on embedded_gateway_payments (created_at);

-- The embedded gateway's outcomes, chosen order by order (docs/internals/money.md).

alter table embedded_gateway_orders add column outcome text;
alter table embedded_gateway_payments add column authorizes_at timestamptz; -- failed until then: the bank is late
alter table embedded_gateway_refunds add column fails boolean not null default false;
alter table embedded_gateway_webhooks add column times integer not null default 1;
