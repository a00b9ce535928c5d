-- Accounts of a hosted identity provider are mirrored (G321). `signed_in_since`: sign-ins that began before are void, as the
-- provider last said; null for accounts of our own provider.

alter table identity_user add column signed_in_since timestamptz;

-- What the provider has to be told about an account: deletions and suspensions here, told outside of their transaction.
create table hosted_changes (
  user_id text primary key,
  due_at timestamptz not null default now(),
  lease_token text,
  lease_expires_at timestamptz,
  attempts integer not null default 0,
  last_error text
);

create function tell_provider() returns trigger language plpgsql as $$
begin
  insert into hosted_changes (user_id) values (old.id)
    on conflict (user_id) do update set due_at = now(), lease_token = null, lease_expires_at = null, attempts = 0;
  return null;
end $$;

create trigger identity_user_deleted after delete on identity_user
  for each row when (old.signed_in_since is not null) execute function tell_provider();
create trigger identity_user_suspended after update on identity_user
  for each row when (new.signed_in_since is not null and old.disabled is distinct from new.disabled)
  execute function tell_provider();
