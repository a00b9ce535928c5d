export interface DocsLink {
  readonly path: string;
  readonly title: string;
}

/** One page of the documentation, drawn by the build (web/prerender.ts). */
export interface DocsView extends DocsLink {
  readonly html: string;
  readonly headings: readonly { readonly id: string; readonly heading: string }[];
  readonly parts: readonly { readonly title: string; readonly pages: readonly DocsLink[] }[];
  readonly previous: DocsLink | undefined;
  readonly next: DocsLink | undefined;
}
