-- The console's list of orders reads the newest of all accounts, and an announced change can be taken back (G166).

create index orders_created on orders (created_at desc, id desc);

alter table catalogue_changes add column withdraws text unique references catalogue_changes (id);  -- null: announces
