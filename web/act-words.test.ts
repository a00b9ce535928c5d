import { expect, test } from "vitest";
import { subjectOfAct } from "../server/src/audit/record-act.ts";
import { actWords } from "./src/console/audit/act-words.ts";

test("every act of the audit has words (G343)", () => {
  expect(Object.keys(subjectOfAct).filter((act) => actWords(act) === undefined)).toEqual([]);
});
