-- Files that were there and are not (G111): nothing is started in their place.
alter table homes add column missing_since timestamptz;

-- Banked time ends a year after the last session (G113); what was banked before this is told of a month before its end.
alter table environments add column banked_until timestamptz;
update environments e
set banked_until = greatest(now() + interval '31 days',
  coalesce((select max(closed_at) from sessions where environment_id = e.id), now()) + interval '365 days')
where status = 'stopped' and expires_at is null and banked_seconds > 0;
create index environments_banked on environments (banked_until) where banked_until is not null;
