-- Links that let whoever has one into one environment (G50). Only the hash of what stands in the address is kept.

create table share_links (
  id text primary key,
  hash bytea not null unique,
  user_id text not null,                              -- who shares
  environment_id text not null references environments,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  views integer not null default 0 check (views >= 0),
  last_viewed_at timestamptz
);
create index share_links_open on share_links (environment_id) where revoked_at is null;

-- What a visitor's cookie stands for: it ends with its link.
alter table grants add column share_id text references share_links on delete cascade;
create index grants_shared on grants (share_id) where share_id is not null;

create function tell_share() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', json_build_object('kind', 'environment', 'id', new.environment_id, 'user', new.user_id)::text);
  return null;
end $$;
create trigger share_links_changed after insert or update on share_links for each row execute function tell_share();
