-- Customers are told of a raise of prices or a change of terms 30 days before (docs/operate/catalogue.md).

-- The prices and terms of the last start with a catalogue of the operator's: what customers were shown.
create table accepted_catalogue (
  one boolean primary key default true check (one),
  prices jsonb not null check (jsonb_typeof(prices) = 'array'),
  terms jsonb not null check (jsonb_typeof(terms) = 'array'),
  accepted_at timestamptz not null default now()
);

-- A work queue: each row is done when every account of its time has its notice.
create table catalogue_changes (
  id text primary key,                          -- the cause of its notices
  title text not null,
  body text not null,
  link text not null,
  created_at timestamptz not null default now(),
  announced_until text not null default '',     -- accounts up to this id have their notice
  due_at timestamptz default now(),             -- null: done
  attempts integer not null default 0,
  last_error text,
  lease_token uuid,
  lease_expires_at timestamptz,
  constraint catalogue_changes_lease
    check (num_nulls(lease_token, lease_expires_at) in (0, 2) and (lease_token is null or due_at is not null))
);
create index catalogue_changes_due on catalogue_changes (greatest(due_at, lease_expires_at)) where due_at is not null;
