-- Payments by UPI, from a bank account and from a wallet, beside cards (G365). `paid_from` is the shortened UPI address
-- (G367), or the provider's name of the bank or the wallet; null for a card, which has columns of its own.
alter table payments add column paid_from text;

-- The embedded provider's side. Its UPI addresses are its own test addresses, never a person's. `expires_at`: a payment
-- that waits for an approval, and that nobody approves, fails then; `authorizes_at`: it is approved then.
alter table embedded_gateway_payments
  add column method text not null default 'card' check (method in ('card', 'upi', 'netbanking', 'wallet')),
  add column vpa text,
  add column bank text,
  add column wallet text,
  add column expires_at timestamptz,
  alter column card_network drop not null,
  alter column card_last4 drop not null;
