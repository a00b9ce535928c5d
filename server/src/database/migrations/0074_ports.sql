-- The port inside at whose host a sign-in is valid; null: at JupyterLab's (G387).

alter table grants add column port integer check (port between 1024 and 65535);
alter table sign_in_codes add column port integer check (port between 1024 and 65535);
