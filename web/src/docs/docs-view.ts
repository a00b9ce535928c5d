export interface DocsLink {
  readonly path: string;
  readonly title: string;
}

/** One page of the documentation, drawn by the build (web/prerender.ts). */
export interface DocsView extends DocsLink {
  readonly html: string;
  readonly headings: readonly { readonly id: string; readonly heading: string }[];
  /** The first pages of the parts, one for each audience. */
  readonly tabs: readonly DocsLink[];
  /** The pages of this one's part; of the start page, those of the first. */
  readonly pages: readonly DocsLink[];
  readonly previous: DocsLink | undefined;
  readonly next: DocsLink | undefined;
}
