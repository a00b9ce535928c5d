/** The notice comes when two looks so far apart, and all between them, have found nothing. */
const quietSeconds = 30;

/**
 * What one look at a run found. `work`: a cell, a program in a terminal, use of a GPU, or load that lasts. `load`: use of the
 * CPU, which an opened page makes too: it is no end, and alone no beginning. `unknown`: it could not be taken.
 */
export type Look = "work" | "load" | "nothing" | "unknown";

export interface Quiet {
  /** Something has run since the owner began to wait. */
  readonly hasRun: boolean;
  /** The first of the looks in a row that found nothing after that. */
  readonly quietSince: Date | null;
}

/** What a look changes (G360). Nothing is concluded from looks that could not be taken, nor across them. */
export function nextQuiet(before: Quiet, look: Look, at: Date): Quiet & { readonly isDone: boolean } {
  const hasRun = before.hasRun || look === "work";
  if (!hasRun || look !== "nothing") return { hasRun, quietSince: null, isDone: false };
  const quietSince = before.quietSince ?? at;
  return { hasRun, quietSince, isDone: at.getTime() - quietSince.getTime() >= quietSeconds * 1000 };
}
