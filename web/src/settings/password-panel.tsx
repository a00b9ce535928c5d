import { useQuery } from "@tanstack/react-query";
import { signInProviders } from "../api/page-settings.ts";
import { linkedAccountsQuery } from "../api/queries.ts";
import { NoPassword } from "./access/linked-accounts.tsx";
import { PasswordForm } from "./password-form.tsx";
import { SettingsPart } from "./settings-part.tsx";

/** The change of the password, or how to get one (G420). */
export function PasswordPanel({ userId }: { readonly userId: string }) {
  const { data } = useQuery({ ...linkedAccountsQuery(userId), enabled: signInProviders.length > 0 });
  if (data?.has_password !== false) return <PasswordForm userId={userId} />;
  return (
    <SettingsPart id="no-password" title="Password">
      <NoPassword />
    </SettingsPart>
  );
}
