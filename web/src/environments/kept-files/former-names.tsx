import { giveFree, type listFiles, type ReplyOf } from "@berth/contract";
import { Button } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { call, messageOf } from "../../api/call.ts";
import { filesQuery, keys } from "../../api/queries.ts";
import { date } from "../../format.ts";
import { TypedConfirmation } from "../../ui/dialogs/typed-confirmation.tsx";
import { Table } from "../../ui/display/table.tsx";
import { toast } from "../../ui/toast/toast.ts";
import classes from "./kept-files.module.css";

type FormerName = ReplyOf<typeof listFiles>["names"][number];

/** Names of ended environments, which stay their owner's for a year (G301); empty without such names. */
export function FormerNames({ userId }: { readonly userId: string }) {
  const { data } = useQuery(filesQuery(userId));
  const [chosen, setChosen] = useState<string>();
  const { mutate, isPending } = useGiving(userId, () => setChosen(undefined));
  if (data === undefined || data.names.length === 0) return null;
  return (
    <section className={classes.section} aria-labelledby="former-names">
      <h2 id="former-names">Former names</h2>
      <p>Nobody else gets the name of an environment of yours for a year after it ended.</p>
      <Table columns={["Name", "Reserved", { label: "Actions", end: true }]} className={classes.table}>
        {data.names.map((former) => (
          <NameRow key={former.name} former={former} onGive={() => setChosen(former.name)} />
        ))}
      </Table>
      <TypedConfirmation
        opened={chosen !== undefined}
        title={`Give ${chosen ?? ""} free?`}
        expected={chosen ?? ""}
        action="Give free"
        keep="Keep it"
        busy={isPending}
        onClose={() => setChosen(undefined)}
        onConfirm={() => chosen !== undefined && mutate(chosen)}
      >
        Anybody can rent this name from then on, and you may not get it back. Links and bookmarks to its address then
        lead to their environment.
      </TypedConfirmation>
    </section>
  );
}

function NameRow({ former: { name, reserved_until }, onGive }: { readonly former: FormerName; onGive: () => void }) {
  return (
    <tr>
      <th scope="row" className={classes.name}>
        {name}
      </th>
      <td className={classes.left}>until {date(reserved_until)}</td>
      <td className={classes.cellActions}>
        <div className={classes.actions}>
          <Button size="xs" variant="subtle" aria-label={`Give free the name ${name}`} onClick={onGive}>
            Give free
          </Button>
          <Button
            size="xs"
            variant="default"
            component={Link}
            to={`/environments/create?subdomain=${encodeURIComponent(name)}`}
            aria-label={`New environment of the name ${name}`}
          >
            New environment
          </Button>
        </div>
      </td>
    </tr>
  );
}

function useGiving(userId: string, onSettled: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => call(giveFree, { params: { name }, body: {} }),
    onSuccess: (_reply, name) => toast.success(`The name ${name} is free`),
    onError: (error) => toast.error(messageOf(error), { title: "The name was not given free" }),
    onSettled: () => {
      onSettled();
      void client.invalidateQueries({ queryKey: keys.files(userId) });
    },
  });
}
