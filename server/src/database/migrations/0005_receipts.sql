-- One receipt for each payment that was captured. What it says of the customer stays as it was then, whatever they call
-- themselves later and whether they still have an account; everything else it says never changes where it stands.

create table receipts (
  payment_id text primary key references payments,
  number text not null unique,                        -- INV- and the first 11 characters of the payment id (G18)
  user_id text not null,
  customer_name text not null,
  customer_email text not null,
  issued_at timestamptz not null default now()
);

insert into receipts (payment_id, number, user_id, customer_name, customer_email, issued_at)
select p.id, 'INV-' || left(p.id, 11), p.user_id, coalesce(u.name, ''), coalesce(u.email, ''), coalesce(p.captured_at, p.created_at)
from payments p left join profiles u on u.user_id = p.user_id where p.status = 'captured';
