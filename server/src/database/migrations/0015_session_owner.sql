-- Whose each session is, and of what type: hours that ran are summed from one index, however many there are.

alter table sessions add column user_id text, add column container_type text;
update sessions s set user_id = e.user_id, container_type = e.container_type from environments e where e.id = s.environment_id;
alter table sessions alter user_id set not null, alter container_type set not null;
create index sessions_run on sessions (user_id) include (container_type, opened_at, closed_at);
