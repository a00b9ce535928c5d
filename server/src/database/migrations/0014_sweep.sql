-- How far back the provider's list of payments has been read (payments.md 4): one row for each account and mode.

create table gateway_sweeps (
  key_id text primary key,                            -- of the account in its mode: other keys have a row of their own
  swept_until timestamptz not null,
  next_at timestamptz not null default now()          -- in the future while a worker is at it
);

create index embedded_gateway_payments_created on embedded_gateway_payments (created_at);
