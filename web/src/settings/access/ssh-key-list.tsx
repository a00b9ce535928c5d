import { removeSshKey, type SshKey } from "@berth/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { ApiError } from "../../api/api-error.ts";
import { call, messageOf } from "../../api/call.ts";
import { keys } from "../../api/queries.ts";
import { date, dateTime } from "../../format.ts";
import { Confirmation } from "../../ui/dialogs/confirmation.tsx";
import { toast } from "../../ui/toast/toast.ts";
import { AccessList, AccessRow } from "./access-list.tsx";

interface Props {
  readonly userId: string;
  readonly sshKeys: readonly SshKey[];
}

/** Each key with its removal, which ends its connections (G412). */
export function SshKeyList({ userId, sshKeys }: Props) {
  const client = useQueryClient();
  const [asked, setAsked] = useState<SshKey>();
  const [confirming, setConfirming] = useState(false);
  const { mutate, isPending } = useMutation({
    mutationFn: ({ id }: SshKey) =>
      call(removeSshKey, { params: { user_id: userId, key_id: id }, body: {} }).catch(unlessGone),
    onSuccess: (_, { name }) => toast.success(`${name} was removed`),
    onError: (error) => toast.error(messageOf(error), { title: "The key was not removed" }),
    onSettled: async () => {
      setConfirming(false);
      await client.invalidateQueries({ queryKey: keys.sshKeys(userId) });
    },
  });
  return (
    <>
      <AccessList>
        {sshKeys.map((each) => (
          <AccessRow
            key={each.id}
            name={each.name}
            facts={factsOf(each)}
            end={{
              label: "Remove",
              onClick() {
                setAsked(each);
                setConfirming(true);
              },
            }}
          />
        ))}
      </AccessList>
      <Confirmation
        opened={confirming}
        title={`Remove ${asked?.name ?? ""}?`}
        action="Remove"
        keep="Keep it"
        busy={isPending}
        onClose={() => setConfirming(false)}
        onConfirm={() => asked && mutate(asked)}
      >
        Its open connections are cut off within 2 seconds, with what runs in their shells, and it opens no environment
        any more. Notebooks, kernels and files stay as they are.
      </Confirmation>
    </>
  );
}

/** Another tab may have removed it. */
function unlessGone(error: unknown): void {
  if (!(error instanceof ApiError) || error.code !== "not_found") throw error;
}

function factsOf({ type, fingerprint, created_at, last_used_at }: SshKey): ReactNode[] {
  const used = last_used_at === null ? "never used" : `last used ${dateTime(last_used_at)}`;
  return [
    <>
      {type} <code>{fingerprint}</code>
    </>,
    `Added ${date(created_at)} · ${used}`,
  ];
}
