import { catalogue } from "../catalogue.ts";
import { longDay } from "../format.ts";

interface TermsVersions {
  /** Of the terms in force. */
  readonly version: string;
  /** Day it began. */
  readonly updated: string;
  /** What changed with it, and with those before it, newest first. */
  readonly changes: readonly string[];
  /** Announced changes, the next first. */
  readonly coming: readonly string[];
}

/**
 * The versions of the terms: the built-in text is 1.0, and each change that the operator announces in the catalogue is one
 * more from its day on (G152).
 */
export function termsVersions(builtIn: string, today = new Date().toISOString().slice(0, 10)): TermsVersions {
  const versions = (catalogue.terms ?? []).map(({ from, summary }, index) => ({
    from,
    version: `1.${index + 1}`,
    isComing: from > today,
    text: `Version 1.${index + 1}, from ${longDay(from)}: ${summary}`,
  }));
  const begun = versions.filter(({ isComing }) => !isComing);
  const last = begun.at(-1);
  return {
    version: last?.version ?? "1.0",
    updated: last?.from ?? builtIn,
    changes: begun.map(({ text }) => text).toReversed(),
    coming: versions.filter(({ isComing }) => isComing).map(({ text }) => text),
  };
}
