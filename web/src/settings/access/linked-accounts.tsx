import { type LinkedAccount, resetPassword } from "@berth/contract";
import { Button } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call, messageOf } from "../../api/call.ts";
import { keys, linkedAccountsQuery } from "../../api/queries.ts";
import { useSession } from "../../api/session.ts";
import { date } from "../../format.ts";
import { Dialog } from "../../ui/dialogs/dialog.tsx";
import { toast } from "../../ui/toast/toast.ts";
import { SettingsPart } from "../settings-part.tsx";
import { AccessList, AccessRow } from "./access-list.tsx";
import { ConnectForm, DisconnectForm } from "./link-forms.tsx";
import classes from "./second-factor.module.css";
import { useProviderReturn } from "./use-provider-return.ts";

interface Props {
  readonly userId: string;
}

type Step =
  | { readonly act: "connect"; readonly key: string; readonly name: string }
  | { readonly act: "disconnect"; readonly account: LinkedAccount };

/** Accounts of other services that sign in to this one (G419). */
export function LinkedAccounts({ userId }: Props) {
  const client = useQueryClient();
  const query = useQuery(linkedAccountsQuery(userId));
  const { data } = query;
  const linked = new Set(data?.linked_accounts.map(({ provider }) => provider));
  const offered = data?.providers.filter(({ name }) => !linked.has(name)) ?? [];
  const refusal = useProviderReturn(userId);
  const [step, setStep] = useState<Step>();
  const close = () => setStep(undefined);
  return (
    <SettingsPart id="linked-accounts" title="Connected accounts" query={query}>
      {refusal !== undefined && <p role="alert">{refusal}</p>}
      {data?.linked_accounts.length === 0 && <p>You log in with your password alone.</p>}
      {data && data.linked_accounts.length > 0 && (
        <AccessList>
          {data.linked_accounts.map((account) => (
            <AccessRow
              key={account.id}
              name={account.provider}
              facts={[factsOf(account)]}
              end={{ label: "Disconnect", onClick: () => setStep({ act: "disconnect", account }) }}
            />
          ))}
        </AccessList>
      )}
      {data?.has_password === false && <NoPassword />}
      {data?.has_password && offered.length > 0 && (
        <div className={classes.buttons}>
          {offered.map(({ key, name }) => (
            <Button key={key} variant="default" onClick={() => setStep({ act: "connect", key, name })}>
              Connect {name}
            </Button>
          ))}
        </div>
      )}
      <Dialog opened={step !== undefined} title={step ? titleOf(step) : ""} onClose={close}>
        {step?.act === "connect" && <ConnectForm userId={userId} provider={step.key} name={step.name} />}
        {step?.act === "disconnect" && (
          <DisconnectForm
            userId={userId}
            account={step.account}
            onDone={() => {
              close();
              toast.success(`${step.account.provider} is disconnected`);
              void client.invalidateQueries({ queryKey: keys.linkedAccounts(userId) });
            }}
          />
        )}
      </Dialog>
    </SettingsPart>
  );
}

function titleOf(step: Step): string {
  return step.act === "connect" ? `Connect ${step.name}` : `Disconnect ${step.account.provider}?`;
}

function factsOf({ email, created_at, last_used_at }: LinkedAccount): string {
  const used = last_used_at ? `Last used ${date(last_used_at)}` : `Since ${date(created_at)}`;
  return email ? `${email} · ${used}` : used;
}

/** Also on the tab Password: whoever signed up by another service has none (G420). */
export function NoPassword() {
  const email = useSession()?.email ?? "";
  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: () => call(resetPassword, { params: {}, body: { email } }),
  });
  return (
    <>
      <p>Your account has no password yet. With one you can log in without that service, and disconnect it.</p>
      {error && <p role="alert">{messageOf(error)}</p>}
      {isSuccess ? (
        <p role="status">A link to set one is on its way to {email}.</p>
      ) : (
        <Button variant="default" loading={isPending} onClick={() => mutate()}>
          Mail me a link to set one
        </Button>
      )}
    </>
  );
}
