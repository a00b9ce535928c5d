-- Who waits for GPUs (G86). A turn is a lease like any other, held for the row, so that nobody else is sold it.

create table queue_entries (
  id text primary key,
  place bigint generated always as identity,          -- the line: lower is earlier
  user_id text not null,
  gpu_count integer not null check (gpu_count > 0),
  status text not null default 'waiting' check (status in ('waiting', 'held', 'taken', 'lapsed', 'left')),
  asked_at timestamptz not null default now(),
  kept_host_id text references hosts,                 -- while waiting: nobody else is given anything there
  held_until timestamptz,                             -- end of the turn, also once an order has taken it
  told_at timestamptz,                                -- they know that it is their turn: from then on it may lapse
  order_id text unique references orders,             -- the order that took the turn, and gives it back unpaid
  closed_at timestamptz,
  check (status <> 'held' or held_until is not null),
  check ((status in ('waiting', 'held')) = (closed_at is null)),
  check (kept_host_id is null or status = 'waiting')
);
create unique index one_place_per_user on queue_entries (user_id) where status in ('waiting', 'held');
create index queue_line on queue_entries (place) where status in ('waiting', 'held');
create index queue_user on queue_entries (user_id, place);

alter table gpu_leases drop constraint gpu_leases_holder_kind_check;
alter table gpu_leases add constraint gpu_leases_holder_kind_check check (holder_kind in ('order', 'environment', 'pool', 'queue'));

create trigger queue_inserted after insert on queue_entries for each row execute function tell_change('queue');
create trigger queue_changed after update on queue_entries for each row
  when ((old.status, old.held_until) is distinct from (new.status, new.held_until)) execute function tell_change('queue');
create trigger queue_alive before insert on queue_entries for each row execute function skip_deleted();

-- Why a GPU is put aside: an operator's words, or '' where its host no longer has it. Only the latter ends by itself.
alter table gpus add column quarantine_reason text not null default '';
