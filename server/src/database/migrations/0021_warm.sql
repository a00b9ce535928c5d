-- Runs that stand ready before anybody has ordered them (docs/internals/runtime.md). Their GPUs are leased to `pool`,
-- which counts as free. The environment of an order that takes one has its id, so nothing is renamed.

create table warm_runs (
  id text primary key,
  host_id text not null references hosts,
  container_type text not null,
  gpus text[] not null check (cardinality(gpus) > 0), -- it has them until this row is gone, whoever they are leased to by then
  home text not null,
  run_token text not null,                            -- JupyterLab's own; never leaves the server
  state text not null default 'starting' check (state in ('starting', 'ready', 'ending')),
  order_id text unique references orders,             -- the unpaid order that has taken it
  created_at timestamptz not null default now(),
  due_at timestamptz not null default now(),
  claim uuid,
  attempts integer not null default 0,
  check (order_id is null or state = 'ready')
);
create index warm_runs_due on warm_runs (due_at);

-- The run that it has, if any, stood ready before its order.
alter table environments add column warm boolean not null default false;
