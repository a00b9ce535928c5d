-- Hosts on other machines (docs/internals/runtime.md): where their engine is, and where on them homes and runs are.
-- Keys are files.

alter table hosts add column address text;             -- of its engine; null: this machine
alter table hosts add column home_root text;           -- folder of homes, on that machine
alter table hosts add column reach text;               -- its private address, on which runs publish their port
alter table hosts add column removed_at timestamptz;   -- never deleted: what was rented on it names it
alter table hosts add check ((address is null) = (home_root is null) and (address is null) = (reach is null));
alter table hosts add check (removed_at is null or drained_at is not null);
