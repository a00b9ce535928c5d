-- What environments used, as means over whole minutes (kept 24 hours) and over whole tens of minutes (kept 30 days).
-- Every look at a run counts in both, so nothing has to be rolled up later.

create table samples (
  environment_id text not null references environments,
  span_seconds integer not null check (span_seconds in (60, 600)),
  at timestamptz not null,                            -- where the span begins
  looks integer not null check (looks > 0),           -- how many looks the means are of
  cpu_cores real not null,
  memory_mb real not null,
  home_mb real not null,                              -- as last seen
  received_bytes_per_second real,                     -- null where the machine cannot tell one run's traffic
  sent_bytes_per_second real,
  primary key (environment_id, span_seconds, at)
);
create index samples_old on samples (span_seconds, at);

create table gpu_samples (
  environment_id text not null references environments,
  gpu_id text not null,
  span_seconds integer not null check (span_seconds in (60, 600)),
  at timestamptz not null,
  looks integer not null check (looks > 0),
  use_percent real not null,
  memory_mb real not null,
  primary key (environment_id, span_seconds, at, gpu_id)
);
create index gpu_samples_old on gpu_samples (span_seconds, at);
