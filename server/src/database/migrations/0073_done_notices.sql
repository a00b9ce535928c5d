-- One notice when nothing runs any more, and a stop with it if its owner wants that (G360).

alter table environments
  add column done_notice text check (done_notice in ('notify', 'stop')),  -- null: off, as after the notice
  add column done_ran boolean not null default false,                     -- something has run since it was switched on
  add column done_quiet_since timestamptz;                                -- the first of the looks that found nothing

drop trigger environments_changed on environments;
create trigger environments_changed after update on environments for each row
  when (old.status is distinct from new.status or old.desired is distinct from new.desired
    or old.generation is distinct from new.generation or old.endpoint is distinct from new.endpoint
    or old.stage is distinct from new.stage or old.stage_percent is distinct from new.stage_percent
    or old.expires_at is distinct from new.expires_at or old.secret is distinct from new.secret
    or old.banked_seconds is distinct from new.banked_seconds or old.idle_minutes is distinct from new.idle_minutes
    or old.idle_stop_at is distinct from new.idle_stop_at or old.idle_snoozed_until is distinct from new.idle_snoozed_until
    or old.waits_for is distinct from new.waits_for or old.done_notice is distinct from new.done_notice
    or old.done_ran is distinct from new.done_ran)
  execute function tell_change('environment');
