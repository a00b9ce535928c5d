-- The operator's catalogue decides which types and currencies are sold; an order keeps the ones it was sold under.

alter table orders drop constraint orders_container_type_check,
  add constraint orders_container_type_check check (container_type ~ '^[a-z0-9][a-z0-9-]{0,30}$');
alter table orders drop constraint orders_currency_check,
  add constraint orders_currency_check check (currency ~ '^[A-Z]{3}$');
