-- Since when a rental that has run cannot run, though it should: for ten minutes that is repaired, then it is paid back.

alter table environments add column down_since timestamptz;
