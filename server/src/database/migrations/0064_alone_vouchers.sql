-- Hours of some kinds of vouchers start an environment by themselves (G332): an order of 0, without a payment. Its gateway is
-- "credit", so that no poll, sweep or refund ever asks a provider about it.

alter table voucher_batches add column alone boolean not null default false;
alter table granted_credits add column alone boolean not null default false;

alter table orders
  drop constraint orders_amount_minor_check,
  drop constraint orders_usd_minor_check,
  add constraint orders_amount_minor_check check ((gateway = 'credit') = (amount_minor = 0) and amount_minor >= 0),
  add constraint orders_usd_minor_check check ((gateway = 'credit') = (usd_minor = 0) and usd_minor >= 0),
  add constraint orders_credit_check check (gateway <> 'credit' or extends is null);
