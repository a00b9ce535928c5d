-- Disputes (docs/internals/money.md): a card holder's bank asks for the money back, over our head.

create table disputes (
  id text primary key,
  gateway text not null,
  gateway_dispute_id text not null,
  payment_id text not null references payments,
  user_id text not null,
  status text not null check (status in ('open', 'under_review', 'won', 'lost', 'closed')),
  phase text not null,                                -- fraud, retrieval, chargeback, pre_arbitration, arbitration
  reason_code text,
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  lost_minor bigint not null default 0,               -- what the bank took; it may take more than was left of the payment
  counted_minor bigint not null default 0,            -- how much of that counts against the payment's refund_minor
  respond_by timestamptz,
  created_at timestamptz not null,
  closed_at timestamptz,
  unique (gateway, gateway_dispute_id),
  check (counted_minor between 0 and lost_minor),
  check ((status = 'lost') = (lost_minor > 0)),
  check ((status in ('won', 'lost', 'closed')) = (closed_at is not null))
);
create index disputes_payment on disputes (payment_id);

create table account_holds (                          -- no new orders until an operator lifts it
  user_id text not null,
  dispute_id text not null references disputes,
  held_at timestamptz not null default now(),
  lifted_at timestamptz,
  primary key (user_id, dispute_id)
);

-- A refund is waived where the bank has taken the same money back already.
alter table refunds drop constraint refunds_status_check;
alter table refunds add constraint refunds_status_check
  check (status in ('queued', 'sent', 'processed', 'failed', 'waived'));
alter table refunds drop constraint refunds_check1;
alter table refunds add constraint refunds_check1 check (status in ('processed', 'waived') or next_check_at is not null);
drop index refunds_due;
create index refunds_due on refunds (next_check_at) where status not in ('processed', 'waived');

alter table journal drop constraint journal_kind_check;
alter table journal add constraint journal_kind_check check (kind in
  ('capture', 'fee', 'refund_asked', 'refund_failed', 'refund_arrived', 'external_refund', 'session_over', 'dispute_lost', 'refund_waived'));
alter table journal_lines drop constraint journal_lines_account_check;
alter table journal_lines add constraint journal_lines_account_check
  check (account in ('gateway', 'prepaid', 'revenue', 'refunds_payable', 'fees', 'disputes'));

create table embedded_gateway_disputes (
  id text primary key,
  payment_id text not null references embedded_gateway_payments,
  amount_minor bigint not null check (amount_minor > 0),
  deducted_minor bigint not null default 0,
  reason_code text not null,
  phase text not null,
  status text not null default 'open' check (status in ('open', 'under_review', 'won', 'lost', 'closed')),
  respond_by timestamptz not null default now() + interval '7 days',
  created_at timestamptz not null default now()
);
