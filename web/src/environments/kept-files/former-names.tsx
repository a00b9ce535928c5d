import { giveFree, type listFiles, type ReplyOf } from "@berth/contract";
import { Button } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { memo, useState } from "react";
import { call, messageOf } from "../../api/call.ts";
import { filesQuery, keys } from "../../api/queries.ts";
import { date } from "../../format.ts";
import { TypedConfirmation } from "../../ui/dialogs/typed-confirmation.tsx";
import { Table } from "../../ui/display/table.tsx";
import { toast } from "../../ui/toast/toast.ts";
import classes from "./kept-files.module.css";
import { NewEnvironment } from "./new-environment.tsx";

type FormerName = ReplyOf<typeof listFiles>["names"][number];

interface Props {
  readonly userId: string;
  readonly onOpen: (path: string) => void;
}

/**
 * Names of ended environments, which stay their owner's for a year (G301); empty without such names, as in an answer that
 * has none (G303). Not rendered at each key of the list's filter (G340).
 */
export const FormerNames = memo(function FormerNamesSection({ userId, onOpen }: Props) {
  const names = useQuery(filesQuery(userId)).data?.names ?? [];
  const [chosen, setChosen] = useState<string>();
  const { mutate, isPending } = useGiving(userId, () => setChosen(undefined));
  if (names.length === 0) return null;
  return (
    <section className={classes.section} aria-labelledby="former-names">
      <h2 id="former-names">Former names</h2>
      <p>Nobody else gets the name of an environment of yours for a year after it ended.</p>
      <Table columns={["Name", "Reserved", { label: "Actions", end: true }]} className={classes.table}>
        {names.map((former) => (
          <NameRow key={former.name} former={former} onOpen={onOpen} onGive={() => setChosen(former.name)} />
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
});

interface RowProps {
  readonly former: FormerName;
  readonly onOpen: (path: string) => void;
  readonly onGive: () => void;
}

function NameRow({ former: { name, reserved_until }, onOpen, onGive }: RowProps) {
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
          <NewEnvironment name={name} onOpen={onOpen} />
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
