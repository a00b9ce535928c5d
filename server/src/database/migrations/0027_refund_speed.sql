-- The embedded gateway answers the speed that was asked for, and a key that comes again with another one is another request.

alter table embedded_gateway_refunds add column speed text not null default 'normal' check (speed in ('normal', 'optimum'));
