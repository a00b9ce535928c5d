-- The end of a sign-in is told like any other change, so that the streams it opened end at once (G109).
create trigger identity_session_ended after update on identity_session for each row
  when (old.revoked_at is null and new.revoked_at is not null) execute function tell_change('session');

-- A new password revokes every link of one user.
create index share_links_of_user on share_links (user_id) where revoked_at is null;
