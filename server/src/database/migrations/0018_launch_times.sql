-- How long each launch took, one row for each, so that a month of them is read at once (G38). Stages are in
-- launch_stages; here is when each was over, in milliseconds after the payment.

create table launch_times (
  environment_id text primary key references environments,
  warm boolean not null default false,                -- it stood ready before its order
  ready_at timestamptz not null,
  placed_ms integer,
  image_ms integer,
  started_ms integer,
  answering_ms integer,
  ready_ms integer not null
);
create index launch_times_month on launch_times (ready_at);

insert into launch_times (environment_id, ready_at, placed_ms, image_ms, started_ms, answering_ms, ready_ms)
select environment_id, ready, extract(epoch from placed - paid) * 1000, extract(epoch from image - paid) * 1000,
  extract(epoch from started - paid) * 1000, extract(epoch from answering - paid) * 1000, extract(epoch from ready - paid) * 1000
from (
  select distinct on (environment_id) environment_id,
    max(at) filter (where stage = 'paid') as paid, max(at) filter (where stage = 'placed') as placed,
    max(at) filter (where stage = 'image') as image, max(at) filter (where stage = 'started') as started,
    max(at) filter (where stage = 'answering') as answering, max(at) filter (where stage = 'ready') as ready
  from launch_stages group by environment_id, generation order by environment_id, generation) launches
where paid is not null and ready is not null;
