import { deviceWords, endOtherSignIns, endSignIn, type SignIn } from "@berth/contract";
import { Button } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { call, messageOf } from "../api/call.ts";
import { keys, signInsQuery } from "../api/queries.ts";
import { dateTime } from "../format.ts";
import { toast } from "../ui/toast/toast.ts";
import classes from "./second-factor.module.css";
import { SettingsPart } from "./settings-part.tsx";

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
        <ul className={classes.signIns}>
          {data.map((each) => (
            <Row key={each.id} {...each} busy={isPending && variables === each.id} onEnd={() => mutate(each.id)} />
          ))}
        </ul>
      )}
      {data?.some(({ current }) => !current) && (
        <Button variant="default" loading={isPending && variables === null} onClick={() => mutate(null)}>
          Sign out all others
        </Button>
      )}
    </SettingsPart>
  );
}

interface RowProps extends SignIn {
  readonly busy: boolean;
  readonly onEnd: () => void;
}

function Row({ user_agent, ip, last_used_at, current, busy, onEnd }: RowProps) {
  const device = deviceWords(user_agent);
  return (
    <li>
      <div>
        <strong>{device}</strong>
        <span>
          {current ? "This browser" : `Last used ${dateTime(last_used_at)}`}
          {ip && ` · ${ip}`}
        </span>
      </div>
      {!current && (
        <Button variant="subtle" loading={busy} aria-label={`Sign out ${device}`} onClick={onEnd}>
          Sign out
        </Button>
      )}
    </li>
  );
}
