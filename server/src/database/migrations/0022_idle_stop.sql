-- Idle stop (docs/internals/runtime.md). When an environment was last busy is a table of its own: it changes every few
-- seconds, is written for many at once, and nobody is told.

create table activity (
  environment_id text primary key references environments,
  last_busy_at timestamptz not null default now(),    -- the last moment that is not known to have been idle
  looked_at timestamptz not null default now()        -- the last look that came to a result
);
insert into activity (environment_id) select id from environments where status = 'active';

alter table environments
  add column idle_minutes integer check (idle_minutes in (30, 60, 120, 240)),   -- null: it is never stopped for being idle
  add column idle_stop_at timestamptz,                -- its owner was told, ten minutes before, that it stops then
  add column idle_snoozed_until timestamptz,          -- not before then
  add column idle_stopped boolean not null default false;  -- it is to stop because it was idle, not because somebody asked

drop trigger environments_changed on environments;
create trigger environments_changed after update on environments for each row
  when ((old.status, old.desired, old.generation, old.endpoint, old.stage, old.stage_percent, old.expires_at, old.secret, old.banked_seconds,
         old.idle_minutes, old.idle_stop_at, old.idle_snoozed_until)
        is distinct from
        (new.status, new.desired, new.generation, new.endpoint, new.stage, new.stage_percent, new.expires_at, new.secret, new.banked_seconds,
         new.idle_minutes, new.idle_stop_at, new.idle_snoozed_until))
  execute function tell_change('environment');
