-- A cluster, or a part of one, added as a host of its own (G207).
alter table hosts
  -- Its nodes, and how pods run there; null on every other host.
  add column options jsonb,
  -- Of a cluster: which one. Two hosts of one cluster never offer the same node.
  add column cluster text,
  drop constraint hosts_check,
  add constraint hosts_check check (
    (options is not null) = (address is not null and kind = 'kubernetes')
    and (home_root is not null) = (address is not null and kind <> 'kubernetes')
    and (reach is not null) = (address is not null and kind <> 'kubernetes')
  );
