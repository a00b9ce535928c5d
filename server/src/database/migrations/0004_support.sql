create table support_tickets (
  id text primary key,
  user_id text not null,
  code text not null,                                 -- the support code: a label people read out, not unique (G60)
  issue_type text not null,
  description text not null,
  email text not null,
  created_at timestamptz not null default now()
);
create index support_tickets_user on support_tickets (user_id, created_at desc);

create table user_flags (                             -- no row: the defaults (G49)
  user_id text primary key,
  email_notifications boolean not null default true,
  billing_alerts boolean not null default true,
  security_alerts boolean not null default true,
  marketing_emails boolean not null default false,
  two_factor_auth boolean not null default false
);
