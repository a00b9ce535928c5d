-- HMAC of the installation's secret, never the secret itself: servers with different secrets refuse each other's cookies
-- and tokens, so a second one with another secret does not start (G115). Null until the next start.
alter table installation add column secret_fingerprint text;
