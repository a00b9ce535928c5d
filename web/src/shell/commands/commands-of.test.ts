import { expect, test, vi } from "vitest";
import type { Environment } from "../../environments/lifecycle/environment.ts";
import { type CommandActs, commandsOf, matchingCommands } from "./commands-of.ts";

const acts: CommandActs = {
  ...{ go: vi.fn(), leave: vi.fn(), act: vi.fn(), openSession: vi.fn() },
  ...{ switchScheme: vi.fn(), showKeys: vi.fn(), logout: vi.fn() },
};
const named = { name: "thesis-run", subdomain: "thesis-run" };
const one = { ...named, id: "1a", status: "active", can_pause: false } as Environment;
const other = { ...one, id: "2b", name: "old-thesis", status: "stopped" } as Environment;

const labels = (text: string) => matchingCommands(commandsOf([one, other], acts), text, 50).map(({ label }) => label);

test("a command is found by all of its words, in any order (G341)", () => {
  expect(labels("thesis stop")).toEqual(["Stop thesis-run"]);
  expect(labels("RESTART old")).toEqual(["Restart old-thesis"]);
  expect(labels("nothing like it")).toEqual([]);
});

test("what would change nothing or cannot be undone is not offered (G341)", () => {
  expect(labels("thesis")).not.toContain("Stop old-thesis");
  expect(labels("thesis")).not.toContain("Pause thesis-run");
  expect(labels("terminate")).toEqual([]);
});

test("an environment without a name has no session to open (G303)", () => {
  const offered = (environment: Environment) => commandsOf([environment], acts).map(({ label }) => label);
  expect(offered(one)).toContain("Open Session of thesis-run");
  expect(offered({ ...one, subdomain: "" })).not.toContain("Open Session of thesis-run");
});

test("without a text there are the screens, the environments and the general actions (G341)", () => {
  const shown = labels("");
  expect(shown).toEqual(expect.arrayContaining(["Dashboard", "thesis-run", "Logout"]));
  expect(shown).not.toContain("Stop thesis-run");
});

test("an action runs on its environment (G341)", () => {
  commandsOf([one, other], acts)
    .find(({ label }) => label === "Stop thesis-run")
    ?.run();
  expect(acts.act).toHaveBeenCalledWith(one, "stop");
});
