-- HMAC of the installation's secret, never the secret itself: servers with different secrets refuse each other's cookies
-- and tokens, so a second one with another secret does not start (G115). Null until the next start.
alter table installation add column secret_fingerprint text;

-- What the retention table asks for every hour (docs/operate/retention.md).
create index orders_unpaid on orders (watch_until) where status in ('cancelled', 'expired');
create index gateway_events_processed on gateway_events (processed_at) where processed_at is not null;
create index gpu_leases_released on gpu_leases (released_at) where released_at is not null;
create index environments_ended on environments (terminated_at) where terminated_at is not null;
