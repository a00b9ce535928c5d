import { deviceWords, endOtherSignIns, endSignIn, type SignIn } from "@berth/contract";
import { Button } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { call, messageOf } from "../../api/call.ts";
import { keys, signInsQuery } from "../../api/queries.ts";
import { dateTime } from "../../format.ts";
import { toast } from "../../ui/toast/toast.ts";
import { SettingsPart } from "../settings-part.tsx";
import { AccessList, AccessRow } from "./access-list.tsx";

interface Props {
  readonly userId: string;
}

/** Where the account is signed in; each of them can be ended, this browser's by the logout (G403). */
export function SignInList({ userId }: Props) {
  const query = useQuery(signInsQuery(userId));
  const { data } = query;
  const client = useQueryClient();
  const { mutate, isPending, variables } = useMutation({
    mutationFn: (id: string | null) =>
      id === null
        ? call(endOtherSignIns, { params: { user_id: userId }, body: {} })
        : call(endSignIn, { params: { user_id: userId, sign_in_id: id }, body: {} }),
    onError: (reason) => toast.error(messageOf(reason), { title: "It is still signed in" }),
    onSettled: () => client.invalidateQueries({ queryKey: keys.signIns(userId) }),
  });
  return (
    <SettingsPart id="sign-ins" title="Where you are signed in" query={query}>
      {data && (
        <AccessList>
          {data.map((each) => (
            <AccessRow
              key={each.id}
              name={deviceWords(each.user_agent)}
              facts={[factsOf(each)]}
              end={
                each.current
                  ? undefined
                  : { label: "Sign out", busy: isPending && variables === each.id, onClick: () => mutate(each.id) }
              }
            />
          ))}
        </AccessList>
      )}
      {data?.some(({ current }) => !current) && (
        <Button variant="default" loading={isPending && variables === null} onClick={() => mutate(null)}>
          Sign out all others
        </Button>
      )}
    </SettingsPart>
  );
}

function factsOf({ ip, by_passkey, provider, last_used_at, current }: SignIn): string {
  const used = current ? "This browser" : `Last used ${dateTime(last_used_at)}`;
  const by = by_passkey ? "a passkey" : provider;
  return [used, ...(ip ? [ip] : []), ...(by ? [`with ${by}`] : [])].join(" · ");
}
