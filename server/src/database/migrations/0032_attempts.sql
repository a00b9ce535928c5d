-- Tries to sign in and mails of links, counted once for every process (G52, G91). Unlogged, because a count is worth no
-- write-ahead log: after a crash of the database all of them begin anew.
create unlogged table attempt_windows (
  key bytea primary key,                              -- SHA-256 of what is counted: no account and no address stands here
  count integer not null,
  ends_at timestamptz not null
);
create index attempt_windows_ends on attempt_windows (ends_at);

-- Where an account signed in from is asked at every sign-in, ended ones included.
create index identity_session_from on identity_session (user_id, created_at desc);

-- What a token says in firebase.sign_in_provider.
alter table identity_session add column sign_in_provider text not null default 'password'
  check (sign_in_provider in ('password', 'custom'));
