-- Nodes of a cluster: all GPUs of one environment are on one node (G180), and a home may be bound to one (G181).

alter table gpus add column node text not null default '';  -- empty on a host that is one machine
alter table homes add column node text;                     -- the only node that can mount its volume; null: any, or not known
alter table environments add column lost_since timestamptz; -- since when its machine has given no sign; null: it is not known to be lost
alter table queue_entries add column kept_node text not null default '';  -- with kept_host_id
