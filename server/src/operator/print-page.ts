import { type Options, usage } from "./parse-command.ts";
import { type Columns, printRows } from "./print-rows.ts";

/** A part of a list. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  /** How many rows the whole list has. */
  readonly total: number;
}

interface PageOptions {
  /** Stands for an empty list. */
  readonly none: string;
  readonly perPage: number;
}

/** Prints the page of `--page`, and what of the list it is where that is not all; with `--json` that line is on stderr. */
export function printPage<Row>(
  { rows, total }: Page<Row>,
  columns: Columns<Row>,
  options: Options,
  { none, perPage }: PageOptions,
): void {
  const page = pageOf(options);
  printRows(rows, columns, options, total === 0 ? none : `There is no page ${page}: the list has ${total} rows`);
  if (rows.length === 0 || rows.length === total) return;
  const first = (page - 1) * perPage + 1;
  const last = first + rows.length - 1;
  const line = `${first} to ${last} of ${total} shown${last < total ? `; --page ${page + 1} goes on` : ""}`;
  if (options["json"] === undefined) console.log(`\n${line}`);
  else console.error(line);
}

/** The number of `--page`, from 1. Throws UsageError. */
export function pageOf({ page = "1" }: Options): number {
  if (!/^[1-9]\d{0,5}$/.test(page)) return usage(`${page} is not the number of a page.`);
  return Number(page);
}
