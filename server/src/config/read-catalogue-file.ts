import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { type Catalogue, type CatalogueProblem, catalogueProblems, catalogueShape } from "@berth/contract";
import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { safeParse } from "zod/mini";

/** Its message lists every problem, each with line and field. */
export class CatalogueError extends Error {}

/** For the faults of somebody who edits by hand. */
const wordsOf: Readonly<Record<string, string>> = {
  CommaExpected: "a comma is missing here or on the line before",
  ColonExpected: "a colon is missing here",
  PropertyNameExpected: "the name of a field is expected here, in quotes; is there a comma too many?",
  ValueExpected: "a value is expected here; is there a comma too many?",
  CloseBraceExpected: "a } is missing",
  CloseBracketExpected: "a ] is missing",
  UnexpectedEndOfString: "a quote is missing here",
  InvalidCommentToken: "it may have no comments",
};

/** Reads and checks a catalogue (docs/operate/catalogue.md). Throws CatalogueError. */
export function readCatalogueFile(name: string): Catalogue {
  const text = textOf(name);
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: false, disallowComments: true });
  const [broken] = errors;
  if (text.trim() === "" || !root) throw new CatalogueError(`${name} is empty`);
  if (broken)
    throw new CatalogueError(
      `${name}, line ${lineOf(text, broken.offset)}: this is no JSON: ${wordsOf[printParseErrorCode(broken.error)] ?? "it cannot be read from here on"}`,
    );
  const [twice] = repeatedFields(root);
  if (twice)
    throw new CatalogueError(`${name}, line ${lineOf(text, twice.offset)}: ${fieldOf(twice.path)} stands here twice`);
  const parsed = safeParse(catalogueShape, JSON.parse(text));
  const problems = parsed.success ? catalogueProblems(parsed.data) : parsed.error.issues.flatMap(readable);
  if (parsed.success && problems.length === 0) return parsed.data;
  throw catalogueErrorOf(name, problems);
}

/** Names each problem with its line in the file; undefined: of the built-in catalogue, with the field alone. */
export function catalogueErrorOf(name: string | undefined, problems: readonly CatalogueProblem[]): CatalogueError {
  const text = name === undefined ? "" : textOf(name);
  const root = parseTree(text);
  const placed = (path: readonly PropertyKey[]) =>
    root ? `${name}, line ${lineOf(text, placeOf(root, path))}` : "the built-in catalogue";
  return new CatalogueError(
    problems.map(({ path, message }) => `${placed(path)}: ${fieldOf(path)} ${message}`).join("\n    "),
  );
}

/** Fields that an object has again; JSON.parse would silently take the last one. */
function repeatedFields(
  node: Node,
  path: readonly PropertyKey[] = [],
): { path: readonly PropertyKey[]; offset: number }[] {
  const { type, children = [] } = node;
  if (type === "array") return children.flatMap((child, index) => repeatedFields(child, [...path, index]));
  const seen = new Set<unknown>();
  return children.flatMap(({ offset, children: [key, value] = [] }) => {
    if (!key || !value) return [];
    const at = [...path, String(key.value)];
    const again = seen.has(key.value) ? [{ path: at, offset }] : [];
    seen.add(key.value);
    return [...again, ...repeatedFields(value, at)];
  });
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

function textOf(path: string): string {
  const bytes = bytesOf(path);
  const text = new TextDecoder().decode(bytes);
  if (!isUtf8(bytes))
    throw new CatalogueError(`${path}, line ${lineOf(text, text.indexOf("\uFFFD"))}: this is no UTF-8`);
  return text;
}

function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new CatalogueError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

interface Issue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
}

/** Names each unknown field, and says what is missing. */
function readable({ code, path, message, keys = [] }: Issue): readonly Issue[] {
  if (code === "unrecognized_keys")
    return keys.map((key) => ({ path: [...path, key], message: "is not a known field" }));
  return [{ path, message: message.startsWith("Invalid input") ? "is missing or of the wrong kind" : message }];
}

/** Offset of a field; of the nearest one around it where it is missing. */
function placeOf(root: Node, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const node = findNodeAtLocation(root, path.slice(0, length) as (string | number)[]);
    // A property's own line: its value may begin on a later one.
    if (node) return node.parent?.type === "property" ? node.parent.offset : node.offset;
  }
  return root.offset;
}

/** "prices[0].rows[1].hourly". */
function fieldOf(path: readonly PropertyKey[]): string {
  const name = path.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");
  return name.replace(/^\./, "") || "the catalogue";
}
