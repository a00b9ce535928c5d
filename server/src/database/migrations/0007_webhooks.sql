-- Webhooks (docs/internals/money.md): stored as they were signed, answered, and worked off afterwards.

create table gateway_events (
  gateway text not null,
  event_id text not null,
  event text not null,
  body bytea not null,
  received_at timestamptz not null default now(),
  processed_at timestamptz,
  next_check_at timestamptz default now(),
  claim uuid,
  attempts integer not null default 0,
  last_error text,
  primary key (gateway, event_id),
  check ((processed_at is null) = (next_check_at is not null))
);
create index gateway_events_due on gateway_events (next_check_at) where processed_at is null;

create function tell_event() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', json_build_object('kind', 'gateway_event', 'id', new.event_id, 'user', '')::text);
  return null;
end $$;
create trigger gateway_events_inserted after insert on gateway_events for each row execute function tell_event();

alter table embedded_gateway_account add column webhook_secret text;

create table embedded_gateway_webhooks (
  id text primary key,
  body text not null,                                 -- signed and sent byte for byte
  created_at timestamptz not null default now(),
  next_try_at timestamptz not null default now(),
  attempts integer not null default 0
);
create index embedded_gateway_webhooks_due on embedded_gateway_webhooks (next_try_at);
