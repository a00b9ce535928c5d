import { deleteFiles } from "@berth/contract";
import { Button } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { memo, useState } from "react";
import { call, messageOf } from "../../api/call.ts";
import { filesQuery, keys } from "../../api/queries.ts";
import { date, sizeText } from "../../format.ts";
import { TypedConfirmation } from "../../ui/dialogs/typed-confirmation.tsx";
import { Table } from "../../ui/display/table.tsx";
import { useNow } from "../../ui/display/use-now.ts";
import { toast } from "../../ui/toast/toast.ts";
import { useDownload } from "../actions/use-download.ts";
import classes from "./kept-files.module.css";
import { type Kept, keptText } from "./kept-text.ts";
import { NewEnvironment } from "./new-environment.tsx";

interface Props {
  readonly userId: string;
  readonly onOpen: (path: string) => void;
}

/** Kept files with the days left (G31); empty without such files. Not rendered at each key of the list's filter (G340). */
export const KeptFiles = memo(function KeptFilesSection({ userId, onOpen }: Props) {
  const { data } = useQuery(filesQuery(userId));
  const [deleting, setDeleting] = useState<Kept>();
  const { mutate, isPending } = useDeletion(userId, () => setDeleting(undefined));
  const now = useNow();
  if (data === undefined || data.files.length === 0) return null;
  return (
    <section className={classes.section} aria-labelledby="kept-files">
      <h2 id="kept-files">Kept files</h2>
      <p>
        They come back with a new environment of the same name
        {data.files.some(isFormer) && ", except those from before a fresh start, which are there to download"}. Deleted
        files cannot be brought back.
      </p>
      <Table columns={["Name", "Size", "Kept", { label: "Actions", end: true }]} className={classes.table}>
        {data.files.map((kept) => (
          <KeptRow key={idOf(kept)} kept={kept} now={now} onOpen={onOpen} onDelete={() => setDeleting(kept)} />
        ))}
      </Table>
      <TypedConfirmation
        opened={deleting !== undefined}
        title={`Delete the files of ${deleting?.subdomain ?? ""}?`}
        expected={deleting?.subdomain ?? ""}
        action="Delete now"
        keep="Keep them"
        busy={isPending}
        onClose={() => setDeleting(undefined)}
        onConfirm={() => deleting && mutate(deleting)}
      >
        {deleting?.former_id
          ? "Its files from before the fresh start are deleted now and cannot be brought back. Its current files stay."
          : "Notebooks, data and installed packages of this name are deleted now and cannot be brought back. The name stays yours."}
      </TypedConfirmation>
    </section>
  );
});

/** What the calls about these files take. */
const idOf = ({ environment_id, former_id }: Kept) => former_id ?? environment_id;

/** Left behind by a fresh start: no launch of the name takes them (G203). */
const isFormer = ({ former_id }: Kept) => former_id !== null;

interface RowProps {
  readonly kept: Kept;
  readonly now: number;
  readonly onOpen: (path: string) => void;
  readonly onDelete: () => void;
}

function KeptRow({ kept, now, onOpen, onDelete }: RowProps) {
  const { subdomain, files_until, size_mb } = kept;
  const { mutate, isPending } = useDownload(idOf(kept), subdomain);
  const isAway = isFormer(kept) && files_until === null;
  const whose = isFormer(kept) ? `the former files of ${subdomain}` : `the files of ${subdomain}`;
  return (
    <tr>
      <th scope="row" className={classes.name}>
        {subdomain}
        {isFormer(kept) && <small>before its fresh start</small>}
      </th>
      <td className={classes.size}>{isAway && size_mb === null ? "N/A" : sizeText(size_mb)}</td>
      <td className={classes.left}>
        {keptText(kept, now)}
        {files_until !== null && <small>until {date(files_until)}</small>}
      </td>
      <td className={classes.cellActions}>
        <div className={classes.actions}>
          {files_until !== null && (
            <Button
              size="xs"
              variant="subtle"
              className={classes.danger ?? ""}
              aria-label={`Delete now ${whose}`}
              onClick={onDelete}
            >
              Delete now
            </Button>
          )}
          <Button
            size="xs"
            variant="subtle"
            disabled={isPending || isAway}
            aria-label={`Download ${whose}`}
            onClick={() => mutate()}
          >
            Download
          </Button>
          {files_until !== null && !isFormer(kept) && <NewEnvironment name={subdomain} onOpen={onOpen} />}
        </div>
      </td>
    </tr>
  );
}

function useDeletion(userId: string, onSettled: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (kept: Kept) => call(deleteFiles, { params: { id: idOf(kept) }, body: { confirm: kept.subdomain } }),
    onSuccess: (_reply, { subdomain }) => toast.success(`The files of ${subdomain} are deleted`),
    onError: (error) => toast.error(messageOf(error), { title: "The files were not deleted" }),
    onSettled: () => {
      onSettled();
      for (const queryKey of [keys.files(userId), keys.profile(userId)]) void client.invalidateQueries({ queryKey });
    },
  });
}
