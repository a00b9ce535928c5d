-- The ledger (docs/internals/money.md): append-only double entry. Checks read it, screens do not.

create table journal (
  id text primary key,
  kind text not null check (kind in
    ('capture', 'fee', 'refund_asked', 'refund_failed', 'refund_arrived', 'external_refund', 'session_over')),
  source_id text not null,                            -- the payment, refund or order it tells of: one entry each
  at timestamptz not null default now(),
  unique (kind, source_id)
);

create table journal_lines (
  entry_id text not null references journal,
  account text not null check (account in ('gateway', 'prepaid', 'revenue', 'refunds_payable', 'fees')),
  order_id text not null references orders,
  currency text not null,
  amount_minor bigint not null check (amount_minor <> 0), -- debit positive
  primary key (entry_id, account)
);
create index journal_lines_order on journal_lines (order_id, account);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'the journal is append-only';
end $$;
create trigger journal_append_only before update or delete on journal for each statement execute function refuse_change();
create trigger journal_lines_append_only before update or delete on journal_lines for each statement execute function refuse_change();

create function check_balance() returns trigger language plpgsql as $$
begin
  if exists (select 1 from journal_lines where entry_id = new.entry_id group by currency having sum(amount_minor) <> 0) then
    raise exception 'journal entry % does not balance', new.entry_id;
  end if;
  return null;
end $$;
create constraint trigger journal_balances after insert on journal_lines deferrable initially deferred
  for each row execute function check_balance();
