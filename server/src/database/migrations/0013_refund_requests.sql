-- Refunds that a person decides about (G68): a user asks, an operator answers.

create table refund_requests (
  id text primary key,
  order_id text not null references orders,
  user_id text not null,
  reason text not null check (reason in ('partial_downtime', 'accidental_termination', 'maintenance', 'other')),
  text text not null,
  status text not null default 'open' check (status in ('open', 'granted', 'declined')),
  created_at timestamptz not null default now(),
  decided_at timestamptz,
  answer text not null default '',                    -- the operator's words
  refund_id text unique references refunds,
  check ((status = 'open') = (decided_at is null)),
  check ((status = 'granted') = (refund_id is not null))
);
create unique index one_open_refund_request on refund_requests (order_id) where status = 'open';
create index refund_requests_user on refund_requests (user_id, created_at desc);
create trigger refund_requests_alive before insert on refund_requests for each row execute function skip_deleted();

alter table refunds drop constraint refunds_reason_check;
alter table refunds add constraint refunds_reason_check check (reason in
  ('not_delivered', 'cancelled', 'late_payment', 'surplus_payment', 'wrong_amount', 'hardware', 'discretionary', 'external'));
-- One for each request: the refund's id is made of it.
drop index one_refund_per_reason;
create index refunds_payment on refunds (payment_id);
create unique index one_refund_per_reason on refunds (payment_id, reason) where reason not in ('discretionary', 'external');
