-- Warnings and suspensions of accounts (G69, G119).

create table account_warnings (
  id text primary key,
  user_id text not null,
  reason text not null check (reason <> ''),
  warned_at timestamptz not null default now()
);
create index account_warnings_user on account_warnings (user_id, warned_at);
create trigger account_warnings_alive before insert on account_warnings for each row execute function skip_deleted();

create table account_suspensions (
  id text primary key,
  user_id text not null,
  reason text not null check (reason <> ''),
  suspended_at timestamptz not null default now(),
  lifted_at timestamptz
);
create unique index one_suspension_per_user on account_suspensions (user_id) where lifted_at is null;
create trigger account_suspensions_alive before insert on account_suspensions for each row execute function skip_deleted();

-- A monthly plan's clock stands still too while its owner cannot come in.
alter table environments drop constraint environments_stop_reason_check;
alter table environments add constraint environments_stop_reason_check
  check (stop_reason in ('idle', 'silent', 'no_home', 'suspended'));
