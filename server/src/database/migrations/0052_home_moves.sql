-- The files of stopped environments move to another host (G195 to G197).

alter table hosts add column moving_since timestamptz;  -- null: what lies on it stays

-- A row until the files are there and the former ones are deleted; the id is the home's.
create table home_moves (
  id text primary key references homes (id),
  user_id text not null,
  from_host text not null references hosts (id),
  from_home text not null,
  to_host text references hosts (id),  -- of the last attempt
  to_home text,                        -- a new name for each attempt
  requested_at timestamptz not null default now(),
  total_bytes bigint not null default 0,
  copied_bytes bigint not null default 0,
  moved_at timestamptz,                -- from then on only the former files are left to delete
  cancelled_at timestamptz,
  due_at timestamptz not null default now(),
  attempts integer not null default 0,
  last_error text,
  lease_token uuid,
  lease_expires_at timestamptz,
  constraint home_moves_attempt check ((to_host is null) = (to_home is null)),
  constraint home_moves_lease check ((lease_token is null) = (lease_expires_at is null))
);

create index home_moves_due on home_moves (greatest(due_at, lease_expires_at));

create trigger home_moves_inserted after insert on home_moves for each row execute function tell_change('home');

-- Their owner's page shows how far the files are.
create function tell_move() returns trigger language plpgsql as $$
declare move home_moves := coalesce(new, old);
begin
  perform pg_notify('changes', json_build_object('kind', 'environment', 'id', e.id, 'user', e.user_id)::text)
    from environments e join homes h on h.id = move.id and h.home = e.home and h.host_id = e.host_id
    where e.user_id = move.user_id and e.status <> 'terminated';
  return null;
end $$;

create trigger home_moves_told after insert or delete on home_moves for each row execute function tell_move();
create trigger home_moves_changed after update on home_moves for each row when
  (old.copied_bytes is distinct from new.copied_bytes or old.moved_at is distinct from new.moved_at
    or old.cancelled_at is distinct from new.cancelled_at) execute function tell_move();
