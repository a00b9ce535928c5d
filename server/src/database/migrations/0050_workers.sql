-- The workers that live, each with the machine or engine of its host `local` (G190).

create table workers (
  id text primary key,
  machine text not null,
  host_name text not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now()          -- renewed every 15 s
);
