import { expect, test } from "vitest";
import { chatText, chatUrl, defaultSupport, isSupportCode, supportCode } from "./support-chat.ts";

const person = { ...defaultSupport, telegram: "mira_berth" };
const page = "https://berth.example/support";

const textOf = (url: string) => decodeURIComponent(/[?&]text=([^&]*)$/.exec(url)?.[1] ?? "");

test("the support code is prefix, six of the user id, four of the time (G81)", () => {
  expect(supportCode("BRT", "41d07b9xyz", 1_795_000_004_821)).toBe("BRT-41d07b-4821");
  expect(supportCode("BRT", "41d07b9xyz", 7)).toBe("BRT-41d07b-0007");
});

test.each([
  ["BRT-41d07b-4821", true],
  ["BRT-41d07b-482", false],
  ["BRT-41d07b-48211", false],
  ["BRT-41d07b-48a1", false],
  ["BRT-999999-4821", false],
  ["XYZ-41d07b-4821", false],
])("%s is this user's: %s", (code, expected) => {
  expect(isSupportCode(code, "BRT", "41d07b9xyz")).toBe(expected);
});

test("the message has code, email, topic and description", () => {
  const code = "BRT-41d07b-4821";
  const whole = chatText({ code, email: "ada@uni.example", topic: "Performance", description: " Slow. " });
  expect(whole).toBe(`Support code: ${code}\nEmail: ada@uni.example\nTopic: Performance\n\nSlow.`);
  expect(chatText({ code, email: "" })).toBe(`Support code: ${code}\nEmail: Not available`);
});

test("the link encodes any text, also with a lone surrogate at its end", () => {
  const text = "a+b & c=d #1\n\u202e<script> 🚀";
  expect(textOf(chatUrl(person, text, page))).toBe(text);
  expect(chatUrl(person, text, page)).not.toContain("+");
  expect(textOf(chatUrl(person, "x\ud83d", page))).toBe("x\ufffd");
});

test("a link to a bot or channel has no text, and without an account Telegram asks for the recipient (G61)", () => {
  expect(chatUrl({ ...person, prefill: false }, "hello", page)).toBe("https://t.me/mira_berth");
  const shared = `https://t.me/share/url?url=${encodeURIComponent(page)}&text=hello`;
  expect(chatUrl(defaultSupport, "hello", page)).toBe(shared);
});
