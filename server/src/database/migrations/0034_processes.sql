-- Processes of the product that run now: replicas, their versions, and what they run with. `doctor` reads it.

create table processes (
  id text primary key,
  roles text[] not null,
  version text not null,                        -- of the program
  migration text not null,                      -- the last one that it brings
  host_name text not null,
  pid integer not null,
  settings jsonb not null,                      -- what it takes to look at the same installation; no secret
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now()    -- a row that is not renewed within a minute is of a process that was killed
);
