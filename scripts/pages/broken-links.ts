import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { isAppPath } from "../../contract/src/app-paths.ts";
import { slugs } from "../../web/docs/slug-of.ts";

const searched = ["*.md", "docs/**/*.md"];
/** Pages that the product serves under /docs. */
const served = /^docs\/(index|configuration|(use|operate|develop)\/[\w-]+)\.md$/;
const pathOf = (page: string) => `/${page.replace(/(\/index)?\.md$/, "")}`;

/** Links of the Markdown pages whose file, heading or path of the product does not exist, one sentence for each. */
export function brokenLinks(root: string): readonly string[] {
  const pages = new Map(
    globSync(searched, { cwd: root }).map((page) => [page, withoutCode(readFileSync(join(root, page), "utf8"))]),
  );
  const paths = new Set([...pages.keys()].filter((page) => served.test(page)).map(pathOf));
  const isPath = (path: string) => path === "/docs" || paths.has(path) || isAppPath(path);
  return [...pages].flatMap(([page, text]) =>
    linksIn(text).flatMap((link) => {
      const fault = link.startsWith("/") ? faultOfPath(link, isPath) : faultOfFile(link, page, root, pages);
      return fault ? [`${page}: ${link} ${fault}`] : [];
    }),
  );
}

/** Pages of the served folders to which the index of their folder has no link. */
export function unlistedPages(root: string): readonly string[] {
  return globSync("docs/{use,operate,develop}/*.md", { cwd: root }).filter((page) => {
    const index = readFileSync(join(root, dirname(page), "index.md"), "utf8");
    return posix.basename(page) !== "index.md" && !index.includes(`](${posix.basename(page)})`);
  });
}

function linksIn(text: string): readonly string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = ""]) => (/^[a-z]+:/.test(link) ? [] : [link]));
}

function faultOfPath(link: string, isPath: (path: string) => boolean): string | undefined {
  return isPath(link.split("#")[0] ?? "") ? undefined : "is no page of the product";
}

function faultOfFile(link: string, page: string, root: string, pages: ReadonlyMap<string, string>): string | undefined {
  const [target = "", anchor] = link.split("#");
  const file = target === "" ? page : posix.join(dirname(page), target);
  if (!existsSync(join(root, file))) return "does not exist";
  if (anchor === undefined) return undefined;
  const text = pages.get(file);
  if (text === undefined) return "has a heading, but is no page";
  return headingsOf(text).has(anchor) ? undefined : "names a heading that is not there";
}

function headingsOf(text: string): ReadonlySet<string> {
  const slug = slugs();
  return new Set([...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = ""]) => slug(heading)));
}

/** Code has brackets of its own. Headings keep theirs. */
function withoutCode(text: string): string {
  return text
    .replace(/^```.*?^```/gms, "")
    .split("\n")
    .map((line) => (line.startsWith("#") ? line : line.replace(/`[^`]*`/g, "")))
    .join("\n");
}
