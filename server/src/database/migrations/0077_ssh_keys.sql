-- Public SSH keys of accounts (G410). A key is one account's: it says who connects.

create table ssh_keys (
  id text primary key,
  user_id text not null references identity_user on delete cascade,
  name text not null,
  type text not null,
  fingerprint text not null unique,                   -- SHA256:..., as ssh-keygen -l prints it
  public_key text not null,                           -- its type and its base64, without the comment
  created_at timestamptz not null default now(),
  last_used_at timestamptz                            -- to the minute
);
create index ssh_keys_user on ssh_keys (user_id);

-- A removed key ends its connections.
create function tell_key() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', json_build_object('kind', 'ssh_key', 'id', old.id, 'user', old.user_id)::text);
  return null;
end $$;
create trigger ssh_keys_removed after delete on ssh_keys for each row execute function tell_key();
