-- An order either launches an environment or buys more hours for one that is there (G100).

alter table orders add column extends text references environments;
create index orders_extends on orders (extends) where extends is not null;
