-- An operator asked for a type that no host prepares by itself (G101, G307); null: nobody did. Kept, so that the next
-- version's packages are prepared too.
alter table host_images add column asked_at timestamptz;
