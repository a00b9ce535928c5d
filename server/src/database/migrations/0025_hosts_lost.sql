-- A machine that never comes back: what was rented on it ends, and it can be removed.
alter table hosts add column lost_at timestamptz;
alter table hosts alter column is_open set expression as (drained_at is null and away_since is null and lost_at is null);

-- Its GPUs are given back when the run is gone; the row stays until its files are gone too.
alter table warm_runs drop constraint warm_runs_gpus_check;
alter table warm_runs add check (cardinality(gpus) > 0 or state = 'ending');
