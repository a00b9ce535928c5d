-- The run that was given up because its GPUs no longer answered. When those of the next one do not answer either, they
-- are broken and the rental is over; until they do, the time that this costs is not the owner's.
alter table environments add column faulty_generation integer;

-- Its owner knows that a home is nearly full. It is told again only after there was room in between.
alter table homes add column full_told_at timestamptz;
