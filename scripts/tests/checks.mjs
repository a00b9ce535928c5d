import { node } from "../setup.mjs";
import { bin } from "./run-steps.mjs";

/** What needs no running product. Longest first: two cores are busy until the end. */
export const checks = [
  { name: "types", command: bin("tsc"), args: ["-b"] },
  { name: "biome", command: bin("biome"), args: ["check", "--error-on-warnings", "."] },
  { name: "unused", command: bin("knip"), args: [] },
  { name: "citations", command: node, args: ["scripts/checks/check-citations.ts"] },
  { name: "names and words", command: node, args: ["scripts/checks/check-names.ts"] },
  { name: "sizes", command: node, args: ["scripts/checks/check-sizes.ts"] },
  { name: "patterns", command: node, args: ["scripts/checks/check-patterns.ts"] },
  { name: "order of folders", command: node, args: ["scripts/checks/check-layers.ts"] },
  { name: "coverage of the specification", command: node, args: ["scripts/checks/check-coverage.mjs"] },
  { name: "lockfile", command: node, args: ["scripts/checks/check-lockfile.mjs"] },
];
