-- A fresh start on another machine leaves a run and its files behind (G202, G203).

-- What drivers call the runs of an environment; null: its own id.
alter table environments add column run_id text;
create unique index environments_run on environments (run_id) where run_id is not null;

-- Former files: the environment that left them, and the run that may still write them.
alter table homes
  add column left_by text references environments (id),
  add column left_run text,
  add constraint homes_left check ((left_by is null) = (left_run is null));

-- Whose files: without it, those that the environment has now.
alter table archive_codes add column home_id text;
