-- A sign-in by a passkey is told from one by a password (G433): where a second factor is required, it has been shown.

alter table identity_session drop constraint identity_session_sign_in_provider_check;
alter table identity_session add constraint identity_session_sign_in_provider_check
  check (sign_in_provider in ('password', 'custom', 'passkey'));
