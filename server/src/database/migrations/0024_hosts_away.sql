-- A host that does not answer gets nothing new until it does; what it has goes on as far as it can.
alter table hosts add column away_since timestamptz;
alter table hosts add column is_open boolean not null generated always as (drained_at is null and away_since is null) stored;
alter table hosts drop column seen_at;   -- written when a host was registered, read nowhere
