import { writeFileSync } from "node:fs";
import type { TestError } from "vitest";
import type { Reporter } from "vitest/node";
import { failureNote } from "./failures.mjs";

/**
 * A reporter that writes {passed, skipped, failures, files} to `path`, including errors outside any test. A file's seconds
 * are those of its imports too.
 */
export function vitestReport(path: string): Reporter {
  return {
    onTestRunEnd(modules, unhandled) {
      const tests = modules.flatMap((module) => [...module.children.allTests()]);
      const groups = modules.flatMap((module) => [module, ...module.children.allSuites()]);
      const failed = tests.filter((test) => test.result().state === "failed");
      const passed = tests.filter((test) => test.result().state === "passed").length;
      const failures = [
        ...failed.map((test) => describe(`${test.module.moduleId}: ${test.fullName}`, test.result().errors ?? [])),
        ...groups
          .filter((group) => group.errors().length > 0)
          .map((group) => describe("fullName" in group ? group.fullName : group.moduleId, group.errors())),
        ...unhandled.map((error) => describe(`outside any test, beside ${error["VITEST_TEST_PATH"]}`, [error])),
      ];
      const files = modules.map((module) => {
        const { collectDuration, duration } = module.diagnostic();
        const seconds = (collectDuration + duration) / 1000;
        return { file: module.relativeModuleId, seconds, tests: [...module.children.allTests()].length };
      });
      writeFileSync(path, JSON.stringify({ passed, skipped: tests.length - passed - failed.length, failures, files }));
    },
  };
}

function describe(where: string, errors: readonly TestError[]): string {
  return failureNote(where, errors.map(textOf));
}

function textOf({ name, message, diff = "", stack = "", stacks }: TestError): string {
  const frames = stacks?.map(({ file, line, column }) => `    at ${file}:${line}:${column}`).join("\n") ?? stack;
  return `${name}: ${message}\n${diff}\n${frames}`;
}
