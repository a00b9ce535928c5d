-- Files of an environment outlive it (G31). What is to be deleted is found here, whoever has the name by then.

create table homes (
  id text primary key,
  home text not null,                                 -- the folder: one per owner and subdomain
  host_id text not null references hosts,
  user_id text not null,
  subdomain text not null,
  used_at timestamptz,                                -- an environment of it answered; null: nothing worth keeping
  delete_at timestamptz,                              -- null while an environment has it
  told_at timestamptz,                                -- its owner knows: nothing is deleted unannounced (P5)
  size_mb double precision,                           -- measured while nothing runs; null until then
  unique (home, host_id)
);
create index homes_user on homes (user_id);
create index homes_due on homes (delete_at) where delete_at is not null;

insert into homes (id, home, host_id, user_id, subdomain, used_at, delete_at)
select max(e.id), e.home, e.host_id, e.user_id, e.subdomain, min(e.created_at),
       case when bool_or(e.status <> 'terminated') then null
            else coalesce((select c.retained_until from subdomain_claims c where c.name = e.subdomain and c.user_id = e.user_id), now()) end
from environments e group by e.home, e.host_id, e.user_id, e.subdomain;

create trigger homes_inserted after insert on homes for each row execute function tell_change('home');
-- Also without a difference: an unknown size that is asked for again is to be measured now.
create trigger homes_changed after update on homes for each row execute function tell_change('home');

-- The link that starts a download: good once, for a minute.
create table archive_codes (
  hash bytea primary key,                             -- SHA-256 of a 256-bit secret
  user_id text not null,
  environment_id text not null references environments,
  expires_at timestamptz not null
);
create index archive_codes_user on archive_codes (user_id);

-- Orders and payments outlive their user (receipts are kept as the law asks), so late money must find out that nobody waits.
create table deleted_accounts (
  user_id text primary key,
  deleted_at timestamptz not null default now()
);

-- A call that was under way while its account was deleted must not bring any of it back: its row is not written. The
-- lock makes the deletion wait for whoever asked before it, and whoever asks after it see it.
create function skip_deleted() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended(new.user_id, 6));
  if exists (select 1 from deleted_accounts where user_id = new.user_id) then return null; end if;
  return new;
end $$;

create trigger profiles_alive before insert on profiles for each row execute function skip_deleted();
create trigger notifications_alive before insert on notifications for each row execute function skip_deleted();
create trigger mails_alive before insert on mails for each row execute function skip_deleted();
create trigger support_tickets_alive before insert on support_tickets for each row execute function skip_deleted();
create trigger user_flags_alive before insert on user_flags for each row execute function skip_deleted();

create index sessions_newest on sessions (environment_id, opened_at desc);
