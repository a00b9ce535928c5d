-- Runs of the process driver could put a link to any socket of the host in place of their own (G42). Their addresses are
-- forgotten; the reconciler writes those of runs that cannot. Notebooks of Docker have a host and a port and are untouched.
update environments set endpoint = null where endpoint ? 'socketPath';

-- A code signs in the browser that set out for it (docs/internals/gateway.md): SHA-256 of what that browser holds.
-- Codes without it are for programs; they live 30 seconds.
alter table sign_in_codes add column visit bytea;
