import { expect, test } from "vitest";
import { recordLog } from "../../../logging/testing/record-log.ts";
import { ownerOfRuns } from "./as-user.ts";

test("G315 a server that is root says so where runs cannot get a user of their own", ({ skip }) => {
  skip(process.getuid?.() !== 0, "the server is not root");
  const { log, lines } = recordLog();
  expect(ownerOfRuns(59_071, log)).toEqual({ uid: 59_071, gid: 59_071 });
  expect(lines).toEqual([]);
  expect(ownerOfRuns(undefined, log)).toEqual({ uid: 0, gid: 0 });
  expect(lines).toMatchObject([
    { level: "warn", event: "host.unfit", msg: expect.stringContaining("processes of root") },
  ]);
});
