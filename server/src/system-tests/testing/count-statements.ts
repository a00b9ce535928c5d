import { Client } from "pg";
import { onTestFinished, vi } from "vitest";

/** How often each statement was sent, by the beginning of its text, with spaces and lists of values in one form. */
export type Statements = Readonly<Record<string, number>>;

/** Statements of loops that ask whether something is due: how often they do depends on time. */
const isPoll = /^(with setting as|select \(extract\(epoch from min\()/;
const shownLength = 110;

/** Counts the statements of all connections of this process until the test ends, but those of loops that ask for work. */
export function countStatements(): (act: () => Promise<unknown>) => Promise<Statements> {
  const query = vi.spyOn(Client.prototype, "query");
  onTestFinished(() => query.mockRestore());
  return async (act) => {
    query.mockClear();
    await act();
    const counts: Record<string, number> = {};
    for (const [config] of query.mock.calls as readonly unknown[][]) {
      const text = shortened(typeof config === "string" ? config : ((config as { text?: string }).text ?? ""));
      if (!isPoll.test(text)) counts[text] = (counts[text] ?? 0) + 1;
    }
    return counts;
  };
}

function shortened(text: string): string {
  const plain = text.replace(/\s+/g, " ").trim();
  return plain.replace(/\((\$\d+, )+\$\d+\)/g, "($...)").slice(0, shownLength);
}

export function sumOf(statements: Statements): number {
  return Object.values(statements).reduce((sum, count) => sum + count, 0);
}

/** The statements that are new or more often than in the budget, for a person; empty: it is kept. */
export function excessOf(statements: Statements, budget: Statements = {}): string[] {
  return Object.entries(statements).flatMap(([text, count]) => {
    const allowed = budget[text] ?? 0;
    return count > allowed ? [`${allowed === 0 ? "new" : `${allowed} before`}, now ${count}: ${text}`] : [];
  });
}
