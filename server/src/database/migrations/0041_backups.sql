-- Backups of this installation (docs/operate/backup.md): the running one, which keeps others from beginning, and the last ones.
create table backups (
  id text primary key,
  place text not null,                          -- file, folder or repository
  with_homes boolean not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),   -- a running one that is not renewed for two minutes was killed
  bytes bigint not null default 0,              -- written so far
  ended_at timestamptz,
  error text,                                   -- null for an ended one: it succeeded
  constraint backups_error check (error is null or ended_at is not null)
);
create unique index backups_one_runs on backups ((true)) where ended_at is null;
