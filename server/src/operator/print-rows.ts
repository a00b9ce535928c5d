import type { Options } from "./parse-command.ts";

/** A column: its title, and the value of a row. Numbers are aligned to the right. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => string | number | Date | null>>;

/** Prints rows as an aligned table, or with `--json` as they are; `none` stands for an empty table. */
export function printRows<Row>(rows: readonly Row[], columns: Columns<Row>, { json }: Options, none: string): void {
  if (json !== undefined) printJson(rows);
  else console.log(rows.length > 0 ? tableOf(rows, columns) : none);
}

export function printJson(value: unknown): void {
  console.log(jsonOf(value));
}

/** JSON keeps letters that a terminal obeys: C1 controls, and those that turn a line around. Escaped they are the same JSON. */
export function jsonOf(value: unknown): string {
  const escaped = (letter: string) =>
    letter.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return JSON.stringify(value, null, 2).replace(/[\u007f-\u009f\p{Cf}]/gu, escaped);
}

/** Columns are two spaces apart; the last one may be of any length. */
export function tableOf<Row>(rows: readonly Row[], columns: Columns<Row>): string {
  const values = rows.map((row) => Object.values(columns).map((of) => of(row)));
  const cells = [Object.keys(columns), ...values.map((row) => row.map(cellText))];
  const widths = Object.keys(columns).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const isNumber = widths.map((_, column) => values.every((row) => typeof row[column] === "number"));
  const lines = cells.map((row) =>
    row.map((cell, column) =>
      isNumber[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
    ),
  );
  return lines.map((line) => line.join("  ").trimEnd()).join("\n");
}

function cellText(value: string | number | Date | null): string {
  if (value === null) return "-";
  return value instanceof Date ? `${value.toISOString().slice(0, 16).replace("T", " ")}Z` : oneLine(String(value));
}

/** Removes escape sequences and line breaks from untrusted text before it reaches a terminal. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
}
