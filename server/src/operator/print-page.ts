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
  printLine(`${first} to ${last} of ${total} shown${last < total ? `; --page ${page + 1} goes on` : ""}`, options);
}

interface NewestOptions<Row> {
  readonly none: string;
  readonly limit: number;
  /** The option that lists what is older than this row. */
  readonly more: (last: Row) => string;
}

/**
 * Prints the newest rows of a list that is too long to count, and says when there are more; with `--json` on stderr. The rows
 * are one more than `limit` where there are.
 */
export function printNewest<Row>(
  rows: readonly Row[],
  columns: Columns<Row>,
  options: Options,
  { none, limit, more }: NewestOptions<Row>,
): void {
  const shown = rows.slice(0, limit);
  printRows(shown, columns, options, none);
  const last = shown.at(-1);
  if (rows.length <= limit || !last) return;
  printLine(`The newest ${limit} shown; ${more(last)} goes on`, options);
}

function printLine(line: string, { json }: Options): void {
  if (json === undefined) console.log(`\n${line}`);
  else console.error(line);
}

/** The number of `--page`, from 1. Throws UsageError. */
export function pageOf({ page = "1" }: Options): number {
  if (!/^[1-9]\d{0,5}$/.test(page)) return usage(`${page} is not the number of a page.`);
  return Number(page);
}
