-- The list of sign-ins names the provider whose account one began with (G370). Null: none, or it began before this.

alter table identity_code add column issuer text;
alter table identity_pending_sign_ins add column issuer text;
alter table identity_session add column issuer text;
