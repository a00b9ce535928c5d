-- Browsers from which an account was signed in (G427): the first sign-in from another one is told to its owner.

create table identity_known_browsers (
  user_id text not null references identity_user on delete cascade,
  hash bytea not null,                                -- of the browser's own token with the account
  last_used_at timestamptz not null default now(),
  primary key (user_id, hash)
);
create index identity_known_browsers_used on identity_known_browsers (last_used_at);
