import MarkdownIt, { type Token } from "markdown-it";
import { slugs } from "./slug-of.ts";

interface Section {
  /** Without the #; empty for what stands above the first heading. */
  readonly id: string;
  readonly heading: string;
  readonly text: string;
  /** What readers call it, for the search alone: `<!-- search: ssh, putty -->` in the section. */
  readonly words: string;
}

export interface RenderedMarkdown {
  readonly title: string;
  /** The first paragraph. */
  readonly description: string;
  /** Without the title. */
  readonly html: string;
  /** Parted at headings of the second level. */
  readonly sections: readonly Section[];
}

/** Addresses of links and images in the served page; undefined takes the link away and keeps its text. */
type Resolve = (href: string) => string | undefined;

/** No HTML: what a page writes as a tag is shown as text. */
const markdown = new MarkdownIt({ html: false });
markdown.renderer.rules.code_inline = (tokens, index) => `<code>${unbroken(tokens[index]?.content ?? "")}</code>`;

/** A short word with hyphens, such as an option, stays on one line (docs-text.module.css). */
function unbroken(code: string): string {
  const words = markdown.utils.escapeHtml(code).split(" ");
  return words.map((word) => (/^(?=.*-).{2,24}$/.test(word) ? `<span>${word}</span>` : word)).join(" ");
}

/**
 * One page of docs/ as HTML. "Berth" becomes the operator's name and `30<!-- RETENTION_DAYS -->` the value of that
 * placeholder (server/src/http/documents.ts); other comments are left out.
 */
export function renderMarkdown(source: string, resolve: Resolve): RenderedMarkdown {
  const tokens = markdown.parse(withPlaceholders(source), {});
  const slug = slugs();
  for (const [index, token] of tokens.entries()) {
    if (token.type === "inline") editInline(token, resolve);
    if (token.type === "heading_open") token.attrSet("id", slug(textOf(tokens[index + 1])));
  }
  const [, title] = tokens;
  const body = tokens[0]?.tag === "h1" ? tokens.slice(3) : tokens;
  const first = body.findIndex(({ type }) => type === "paragraph_open");
  const description = textOf(body[first + 1]);
  const shown = body.filter((token) => !isSearchWords(token));
  const html = markdown.renderer.render(shown, markdown.options, {});
  return { title: textOf(title), description, html: framed(html), sections: sectionsOf(body) };
}

function withPlaceholders(source: string): string {
  return source
    .replace(/<!-- search: (.*?) -->/gs, `\`\`\`${searchWords}\n$1\n\`\`\``)
    .replace(/<!-- begin ([A-Z_]+) -->.*?<!-- \1 -->/g, "{{$1}}")
    .replace(/(\d+(, \d+)* or \d+|\S+?)<!-- ([A-Z_]+) -->/g, "{{$3}}")
    .replace(/<!--.*?-->\n*/gs, "");
}

/** The language of the block that the parser reads a search comment as. */
const searchWords = "words-of-the-search";

function isSearchWords({ type, info }: Token): boolean {
  return type === "fence" && info === searchWords;
}

function editInline({ children }: Token, resolve: Resolve): void {
  const tokens = children ?? [];
  for (const [index, token] of tokens.entries()) {
    if (token.type === "text") token.content = token.content.replaceAll(/\bBerth\b/g, "{{BRAND_NAME}}");
    if (token.type === "image") token.attrSet("src", resolve(attributeOf(token, "src")) ?? "");
    if (token.type === "link_open") editLink(tokens, index, resolve(attributeOf(token, "href")));
  }
}

/** A link that stands alone is a target of its own size. */
function editLink(tokens: Token[], index: number, target: string | undefined): void {
  if (target === undefined) {
    unlink(tokens, index);
    return;
  }
  tokens[index]?.attrSet("href", target);
  if (tokens.length === 3) tokens[index]?.attrSet("data-alone", "");
}

function unlink(children: Token[], opening: number): void {
  const closing = children.findIndex(({ type }, index) => index > opening && type === "link_close");
  for (const index of [opening, closing]) Object.assign(children[index] ?? {}, { type: "text", tag: "", content: "" });
}

/** What may scroll is reached by the keyboard; an empty corner of a table heads nothing; a heading is its own link. */
function framed(html: string): string {
  return html
    .replaceAll("<table>", '<div data-scroll tabindex="0"><table>')
    .replaceAll("</table>", "</table></div>")
    .replaceAll("<pre>", '<pre tabindex="0">')
    .replaceAll("<th></th>", "<td></td>")
    .replace(/<(h[23]) id="([^"]+)">(.*?)<\/\1>/g, '<$1 id="$2"><a href="#$2">$3</a></$1>');
}

function sectionsOf(body: readonly Token[]): readonly Section[] {
  const found: Section[] = [];
  let current = emptySection();
  const close = () => {
    const { id, heading } = current;
    const [text, words] = [current.parts.join(" ").trim(), current.words.join(" ").trim()];
    if (id !== "" || text !== "") found.push({ id, heading, text, words });
  };
  for (const [index, token] of body.entries()) {
    const opens = token.type === "heading_open" && token.tag === "h2";
    if (opens) close();
    if (opens) current = emptySection(attributeOf(token, "id"), textOf(body[index + 1]));
    else if (isSearchWords(token)) current.words.push(token.content);
    else if (body[index - 1]?.tag !== "h2") current.parts.push(textOf(token));
  }
  close();
  return found;
}

function emptySection(id = "", heading = "") {
  return { id, heading, parts: [] as string[], words: [] as string[] };
}

function attributeOf(token: Token, name: string): string {
  return String(token.attrGet(name) ?? "");
}

function textOf(token: Token | undefined): string {
  if (!token?.children) return token?.content ?? "";
  return token.children.map(({ type, content }) => (type === "softbreak" ? " " : content)).join("");
}
