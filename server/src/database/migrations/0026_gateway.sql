-- Runs of the process driver could put a link to any socket of the host in place of their own (G42). Their addresses are
-- forgotten; the reconciler writes those of runs that cannot. Notebooks of Docker have a host and a port and are untouched.
update environments set endpoint = null where endpoint ? 'socketPath';
