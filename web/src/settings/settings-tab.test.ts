import { expect, test } from "vitest";
import { settingsTab } from "./settings-tab.ts";

test.each([
  ["", "profile"],
  ["tab=password", "password"],
  ["tab=notifications", "notifications"],
  ["tab=security", "security"],
  ["tab=ssh-keys", "ssh-keys"],
  ["tab=data", "data"],
  ["tab=billing", "profile"],
])("?%s opens %s", (query, tab) => {
  expect(settingsTab(new URLSearchParams(query))).toBe(tab);
});
