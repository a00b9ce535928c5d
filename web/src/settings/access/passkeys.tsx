import type { Passkey } from "@berth/contract";
import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { usePasskeysOffered } from "../../api/passkeys.ts";
import { useConfig } from "../../api/product-config.ts";
import { keys, passkeysQuery } from "../../api/queries.ts";
import { date } from "../../format.ts";
import { Dialog } from "../../ui/dialogs/dialog.tsx";
import { toast } from "../../ui/toast/toast.ts";
import { SettingsPart } from "../settings-part.tsx";
import { AccessList, AccessRow } from "./access-list.tsx";
import { PasskeyRemoval } from "./passkey-removal.tsx";
import { PasskeySetUp } from "./passkey-set-up.tsx";

interface Props {
  readonly userId: string;
}

/** The passkeys that sign in to the account (G424). */
export function Passkeys({ userId }: Props) {
  const hosted = useConfig()?.identity.kind === "firebase";
  const offered = usePasskeysOffered();
  const client = useQueryClient();
  const query = useQuery({ ...passkeysQuery(userId), enabled: !hosted });
  const { data } = query;
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<Passkey>();
  const changed = (text: string) => {
    setAdding(false);
    setRemoving(undefined);
    toast.success(text);
    void client.invalidateQueries({ queryKey: keys.passkeys(userId) });
  };
  return (
    <SettingsPart id="passkeys" title="Passkeys" query={query}>
      {hosted && <p>Your account is kept by another sign-in service, with which passkeys are not offered here.</p>}
      {data && (
        <>
          <p>
            {data.unavailable ??
              "A passkey logs you in by the fingerprint, face or PIN of your device or security key: no password, and no code."}
          </p>
          {data.unavailable === null && !offered && <p>This browser has no passkeys.</p>}
          {data.passkeys.length > 0 && (
            <AccessList>
              {data.passkeys.map((each) => (
                <AccessRow
                  key={each.id}
                  name={each.name}
                  facts={[usesOf(each)]}
                  end={{ label: "Remove", onClick: () => setRemoving(each) }}
                />
              ))}
            </AccessList>
          )}
          {offered && (
            <Button variant="default" onClick={() => setAdding(true)}>
              Add a passkey
            </Button>
          )}
          <Dialog opened={adding} title="Add a passkey" onClose={() => setAdding(false)}>
            <PasskeySetUp userId={userId} proof={data.proof} onDone={() => changed("The passkey is added")} />
          </Dialog>
          <Dialog
            opened={removing !== undefined}
            title={removing ? `Remove "${removing.name}"?` : ""}
            onClose={() => setRemoving(undefined)}
          >
            {removing && (
              <PasskeyRemoval
                userId={userId}
                passkeyId={removing.id}
                proof={data.proof}
                onClose={() => setRemoving(undefined)}
                onDone={() => changed("The passkey is removed")}
              />
            )}
          </Dialog>
        </>
      )}
    </SettingsPart>
  );
}

function usesOf({ created_at, last_used_at }: Passkey): string {
  return `Added ${date(created_at)} · ${last_used_at ? `last used ${date(last_used_at)}` : "not used yet"}`;
}
