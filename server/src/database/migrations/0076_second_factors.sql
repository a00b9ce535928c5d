-- Second factors of renters (G398): an authenticator app, recovery codes, sign-ins that wait for a code, and browsers that
-- are not asked for one.

create table identity_second_factors (
  user_id text primary key references identity_user on delete cascade,
  secret_sealed bytea not null,
  created_at timestamptz not null default now(),
  confirmed_at timestamptz,                           -- null: offered, and no code was typed yet
  last_step bigint                                    -- of the last code that was accepted: a code works once
);

create table identity_recovery_codes (
  user_id text not null references identity_second_factors on delete cascade,
  hash bytea not null,
  used_at timestamptz,
  primary key (user_id, hash)
);

create table identity_pending_sign_ins (
  hash bytea primary key,
  user_id text not null references identity_user on delete cascade,
  sign_in_provider text not null check (sign_in_provider in ('password', 'custom')),
  tries integer not null default 0,
  expires_at timestamptz not null
);
create index identity_pending_sign_ins_user on identity_pending_sign_ins (user_id);

create table identity_trusted_browsers (
  hash bytea primary key,
  user_id text not null references identity_user on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index identity_trusted_browsers_user on identity_trusted_browsers (user_id);
