import { expect, test } from "vitest";
import { usageOf } from "./run-usage.ts";

const network = `/proc/net/dev Inter-|   Receive                                                |  Transmit
/proc/net/dev  face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
/proc/net/dev     lo:  900 1 0 0 0 0 0 0 900 1 0 0 0 0 0 0
/proc/net/dev   eth0: 5000 9 0 0 0 0 0 0 7000 8 0 0 0 0 0 0
`;
const usage = { cpuSeconds: 2.5, memoryMb: 60, pids: 7, receivedBytes: 5000, sentBytes: 7000 };

test("usage of a container is read from its cgroup of version 1 and of version 2", () => {
  const first = `cpuacct/cpuacct.usage 2500000000
memory/memory.usage_in_bytes 100000000
memory/memory.stat inactive_file 1
memory/memory.stat total_inactive_file 40000000
pids/pids.current 7
`;
  const second = `cpu.stat usage_usec 2500000
cpu.stat user_usec 2000000
memory.current 100000000
memory.stat inactive_file 40000000
pids.current 7
`;
  expect(usageOf(first + network)).toEqual(usage);
  expect(usageOf(second + network)).toEqual(usage);
});

test("counters that cannot be read are 0", () => {
  expect(usageOf("")).toEqual({ cpuSeconds: 0, memoryMb: 0, pids: 0, receivedBytes: 0, sentBytes: 0 });
});
