/**
 * A legal document as data, so that an operator edits only the text (G66). `{name}`, `{email}` and `{retentionDays}` are
 * replaced by the operator's settings, and `[label](/path)` is a link.
 */
export interface LegalText {
  readonly title: string;
  /** One or two sentences for search engines and link previews. */
  readonly description: string;
  /** Day of the last change, as in "2026-11-20". */
  readonly updated: string;
  /** Incremented with every change of meaning, which is announced 30 days ahead. */
  readonly version: string;
  /** Announced changes, each with its version and day. */
  readonly coming?: readonly string[];
  readonly summary: string;
  readonly sections: readonly LegalSection[];
}

export interface LegalSection {
  /** Must not change with the title, because it is part of URLs. */
  readonly id: string;
  readonly title: string;
  readonly text?: readonly string[];
  readonly items?: readonly LegalItem[];
  readonly ordered?: boolean;
  /** Shown below the list. */
  readonly after?: string;
}

interface LegalItem {
  readonly term?: string;
  readonly text: string;
}
