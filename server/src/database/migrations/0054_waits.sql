-- What a start waits for; after a launch that was not delivered: why (G198).

alter table environments add column waits_for text check (waits_for in ('room', 'machine', 'image', 'volume', 'host'));

drop trigger environments_changed on environments;
create trigger environments_changed after update on environments for each row
  when (old.status is distinct from new.status or old.desired is distinct from new.desired
    or old.generation is distinct from new.generation or old.endpoint is distinct from new.endpoint
    or old.stage is distinct from new.stage or old.stage_percent is distinct from new.stage_percent
    or old.expires_at is distinct from new.expires_at or old.secret is distinct from new.secret
    or old.banked_seconds is distinct from new.banked_seconds or old.idle_minutes is distinct from new.idle_minutes
    or old.idle_stop_at is distinct from new.idle_stop_at or old.idle_snoozed_until is distinct from new.idle_snoozed_until
    or old.waits_for is distinct from new.waits_for)
  execute function tell_change('environment');
