import type { Tx } from "../../../database/database.ts";
import type { Environment } from "../../environment.ts";
import type { Announce } from "../../notice.ts";
import type { Ended } from "../plan.ts";

const filesStay = "What was in memory is lost; this touches no file.";

const texts: Readonly<Record<Ended, { readonly title: string; readonly body: string }>> = {
  memory: {
    title: "ran out of memory and was started again",
    body: `Its programs used all of its memory. ${filesStay}`,
  },
  disk: {
    title: "ran out of temporary space and was started again",
    body: `Its programs wrote more beside your files, such as to /tmp, than there is room for. ${filesStay}`,
  },
  machine: {
    title: "is started again",
    // The machine may have taken the files with it: only the start that follows shows that.
    body: "Its machine had ended it. The time that this took is added at its end. What was in memory is lost.",
  },
  error: {
    title: "was started again",
    body: `Its JupyterLab had ended with an error. ${filesStay}`,
  },
};

/** Tells an owner that a run ended by no act of theirs, and why (G199, G350). */
export async function announceRestart(
  tx: Tx,
  announce: Announce,
  { id, user_id: userId, subdomain, generation }: Environment,
  ended: Ended,
): Promise<void> {
  const { title, body } = texts[ended];
  await announce(tx, {
    userId,
    // One that ends again and again is told of once an hour.
    cause: `restarted:${id}:${ended === "error" ? new Date().toISOString().slice(0, 13) : generation}`,
    title: `${subdomain} ${title}`,
    body,
    link: `/environments/${id}`,
  });
}
