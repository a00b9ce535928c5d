-- The operator's console (G143): its accounts, their one-time links, recovery codes and sign-ins.

create table operators (
  id text primary key,
  email text not null,
  email_key text not null unique,
  password_hash text,                                 -- null until the link was used
  factor_sealed bytea,                                -- secret of the second factor, sealed
  factor_step bigint,                                 -- of the last code that was accepted: a code works once
  created_at timestamptz not null default now(),
  check (password_hash is not null or factor_sealed is null)
);

create table operator_links (
  hash bytea primary key,
  operator_id text not null references operators on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  address text,                                       -- who opened it first
  browser bytea,                                      -- hash of that browser's cookie
  factor_sealed bytea,                                -- offered there
  used_at timestamptz,
  check (num_nulls(address, browser) in (0, 2))
);
create index operator_links_operator on operator_links (operator_id);

create table operator_recovery_codes (
  operator_id text not null references operators on delete cascade,
  hash bytea not null,
  used_at timestamptz,
  primary key (operator_id, hash)
);

create table operator_sessions (
  id text primary key,
  operator_id text not null references operators on delete cascade,
  created_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  address text not null
);
create index operator_sessions_operator on operator_sessions (operator_id);
