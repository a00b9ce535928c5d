-- Passkeys of renters (G424): a way to sign in that is two factors in one. Challenges are not stored; what was used is.

create table identity_passkeys (
  id text primary key,
  user_id text not null references identity_user on delete cascade,
  credential_id text not null unique,                 -- base64url, chosen by the authenticator
  public_key bytea not null,                          -- COSE
  sign_count bigint not null,                         -- 0 for ever of authenticators that do not count
  name text not null,
  backed_up boolean not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index identity_passkeys_user on identity_passkeys (user_id);

create table identity_spent_challenges (
  hash bytea primary key,
  expires_at timestamptz not null
);
