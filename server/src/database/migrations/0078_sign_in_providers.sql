-- Sign-in by other providers (G416): which account of a provider signs in to which account here, and sign-ins on their way
-- there and back.

create table identity_links (
  id text primary key,
  user_id text not null references identity_user on delete cascade,
  issuer text not null,
  subject text not null,                              -- the account's id at the provider: an address may change hands
  email text,                                         -- at the provider, when it was last used; null: not confirmed there
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  unique (issuer, subject)
);
create index identity_links_user on identity_links (user_id);

create table identity_provider_attempts (
  state_hash bytea primary key,
  browser_hash bytea not null,                        -- of the cookie of the browser that began it
  provider text not null,
  sealed bytea not null,                              -- nonce and PKCE verifier; after the answer: who signed in
  return_to text not null,
  link_user text references identity_user on delete cascade, -- who wants it connected; null: a sign-in
  used_at timestamptz,                                -- when the provider's answer came
  code_hash bytea unique,                             -- of the code by which the page ends it
  expires_at timestamptz not null
);
create index identity_provider_attempts_user on identity_provider_attempts (link_user);
