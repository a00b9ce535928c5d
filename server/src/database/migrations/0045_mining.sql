-- What the mining detector found (G69, G157): evidence for a person, of command lines and figures, never of files.

create table mining_findings (
  id text primary key,
  environment_id text not null references environments,
  user_id text not null,
  generation integer not null,                        -- of the run that it was found in
  kind text not null check (kind in ('program', 'pool', 'gpu')),
  evidence jsonb not null check (jsonb_typeof(evidence) = 'object'),
  found_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),         -- last
  ended boolean not null default false,               -- MINING=stop ended the environment
  dismissed_at timestamptz,                           -- a person has looked: it is none
  unique (environment_id, generation, kind)
);
create index mining_findings_user on mining_findings (user_id);
create index mining_findings_open on mining_findings (environment_id) where dismissed_at is null;
