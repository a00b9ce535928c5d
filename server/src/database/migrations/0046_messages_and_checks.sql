-- Tickets can be closed without an answer, and announcements go out in batches (G148).

alter table support_tickets add column closed_at timestamptz;

create table announcements (
  id text primary key,
  title text not null check (title <> ''),
  body text not null check (body <> ''),
  audience text not null check (audience in ('all', 'renters')),
  by_mail boolean not null,
  created_at timestamptz not null default now(),
  last_user text not null default '',                 -- of the last batch; '' before the first and after the last one
  notified integer not null default 0,
  due_at timestamptz default now(),                   -- null when everybody is notified
  lease_token uuid,
  lease_expires_at timestamptz,
  attempts integer not null default 0,
  last_error text,
  constraint announcements_lease check ((lease_token is null) = (lease_expires_at is null))
);
create index announcements_due on announcements (greatest(due_at, lease_expires_at)) where due_at is not null;

-- How far the audit was verified, so that doctor computes the rest only (G149).
create table audit_checks (
  one boolean primary key default true check (one),
  last_id bigint not null,
  last_hash bytea not null check (length(last_hash) = 32),
  whole_at timestamptz not null                       -- when the whole chain was verified last
);
