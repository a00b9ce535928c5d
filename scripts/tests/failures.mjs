import { stripVTControlCharacters } from "node:util";
import { root } from "../setup.mjs";
import { specsOf } from "./slowest-files.mjs";

const mostLines = 10;
const mostFrames = 4;
const widest = 240;

/** What failed, and below it where in our files and the first lines of each message. A thrown text ends with its stack. */
export function failureNote(what, thrown) {
  return [what, ...thrown.flatMap(linesOf).map((line) => `  ${line.slice(0, widest)}`)].join("\n");
}

/** Notes of a report of Playwright: of tests, and of files that could not be loaded. */
export function browserFailures({ suites = [], errors = [] }) {
  const specs = suites.flatMap((suite) => specsOf(suite)).filter((spec) => !spec.ok);
  const failed = specs.map((spec) => {
    const results = spec.tests.flatMap((test) => test.results);
    const thrown = results.flatMap((result) => result.errors.map(({ message }) => message ?? ""));
    return failureNote(`e2e/${spec.file}:${spec.line}: ${spec.title}`, thrown);
  });
  const outside = errors.map(({ message, stack }) => failureNote("outside any test", [stack ?? message ?? ""]));
  return [...failed, ...outside];
}

function linesOf(thrown) {
  const lines = stripVTControlCharacters(thrown).split("\n");
  const frames = lines.flatMap((line) => ownFrame(line) ?? []).slice(0, mostFrames);
  const said = lines.map((line) => line.trimEnd()).filter((line) => line !== "" && !isBelow(line));
  return [...(frames.length > 0 ? [`at ${frames.join(", ")}`] : []), ...said.slice(0, mostLines)];
}

/** `path:line` of a line of a stack in our files. */
function ownFrame(line) {
  const [, path = "", at] = /^\s+at (?:.*\()?(?:file:\/\/)?(\/[^()]*):(\d+):\d+\)?$/.exec(line) ?? [];
  if (path === "" || path.includes("/node_modules/")) return undefined;
  return `${path.startsWith(root) ? path.slice(root.length) : path}:${at}`;
}

/** Whether it belongs to the stack, or to the lines of source that Playwright prints. */
function isBelow(line) {
  return /^\s+at \S/.test(line) || /^[\s>]*\d*\s+\|/.test(line);
}
