-- What a receipt says is frozen in the transaction that settles its payment, a credit note's in that of its refund
-- (docs/internals/money.md). With a GSTIN each has a serial of its own besides: consecutive per year, without gaps.

create table invoice_series (
  series text not null,                               -- I invoices, C credit notes; T before it where no money moves
  year integer not null,                              -- in which it starts: April to March, in Indian time
  next_no integer not null,
  primary key (series, year)
);

alter table receipts add column document jsonb;
alter table receipts add column tax_series text, add column tax_year integer, add column tax_no integer;
update receipts r set document = jsonb_build_object(
  'number', r.number, 'issued_at', r.issued_at, 'created_at', o.created_at,
  'customer_name', r.customer_name, 'customer_email', r.customer_email,
  'gateway_payment_id', p.gateway_payment_id, 'amount_minor', p.amount_minor, 'currency', p.currency,
  'method', p.method, 'card_network', p.card_network, 'card_last4', p.card_last4,
  'container_type', o.container_type, 'gpu_count', o.gpu_count, 'duration_hours', o.duration_hours,
  'subdomain', o.subdomain, 'usd_minor', o.usd_minor, 'inr_paise_per_usd', o.inr_paise_per_usd,
  'mode', o.mode, 'tax', null)
from payments p join orders o on o.id = p.order_id where p.id = r.payment_id;
alter table receipts alter column document set not null;
alter table receipts drop column customer_name, drop column customer_email;
alter table receipts add unique (tax_series, tax_year, tax_no),
  add check (num_nulls(tax_series, tax_year, tax_no) in (0, 3));

create table credit_notes (
  number text primary key,                            -- CRN- and 11 random characters
  refund_id text not null unique references refunds,
  payment_id text not null references payments,
  user_id text not null,
  amount_minor bigint not null check (amount_minor > 0),
  issued_at timestamptz not null default now(),
  document jsonb not null,
  tax_series text,
  tax_year integer,
  tax_no integer,
  unique (tax_series, tax_year, tax_no),
  check (num_nulls(tax_series, tax_year, tax_no) in (0, 3))
);
create index credit_notes_payment on credit_notes (payment_id);

-- Refunds that arrived before: nobody had a GSTIN.
insert into credit_notes (number, refund_id, payment_id, user_id, amount_minor, issued_at, document)
select 'CRN-' || left(n.id, 11), r.id, p.id, p.user_id, r.amount_minor, r.processed_at,
  c.document || jsonb_build_object('number', 'CRN-' || left(n.id, 11), 'issued_at', r.processed_at,
    'credited_minor', r.amount_minor, 'reason', r.reason, 'receipt_number', c.number, 'receipt_issued_at', c.issued_at,
    'receipt_serial', null, 'gateway_refund_id', r.gateway_refund_id, 'arn', r.arn)
from refunds r join payments p on p.id = r.payment_id join receipts c on c.payment_id = p.id
cross join lateral (select md5(r.id) as id) n where r.status = 'processed';
