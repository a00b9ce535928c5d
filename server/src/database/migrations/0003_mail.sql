-- The outbox: a mail is written in the transaction of what it tells, and sent by a loop of its own.

create table mails (
  id text primary key,                                -- also its Message-ID, so that a relay can drop a second copy
  cause text not null unique,                         -- one mail per cause, however often it is asked for
  user_id text not null,
  recipient text not null,
  subject text not null,
  body_text text not null,                            -- both bodies are emptied at the end: they may hold a live link
  body_html text not null,
  status text not null default 'queued' check (status in ('queued', 'sent', 'refused', 'lapsed')),
  created_at timestamptz not null default now(),
  useful_until timestamptz not null,                  -- a link that has died is not worth a mail
  ended_at timestamptz,
  next_try_at timestamptz not null default now(),
  claim text,
  attempts integer not null default 0,
  last_error text,
  check ((status = 'queued') = (ended_at is null)),
  check (status = 'queued' or (body_text = '' and body_html = ''))
);
create index mails_due on mails (next_try_at) where status = 'queued';
create index mails_user on mails (user_id);

create trigger mails_inserted after insert on mails for each row execute function tell_change('mail');
