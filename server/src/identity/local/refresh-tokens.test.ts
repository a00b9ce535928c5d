import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { newId } from "../../database/new-id.ts";
import { readRefreshToken, writeRefreshToken } from "./refresh-tokens.ts";

test("only the exact text of a token is valid", () => {
  const key = randomBytes(32);
  const session = { id: newId(), generation: 12 };
  const token = writeRefreshToken(key, session);
  expect(readRefreshToken(key, token)).toEqual(session);

  const [id, , mac = ""] = token.split(".");
  // The last of 43 base64 characters has two unused bits: its neighbour decodes to the same bytes.
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const neighbour = digits[digits.indexOf(mac.at(-1) ?? "") ^ 1];
  const forgeries = [
    `${id}.13.${mac}`,
    `${id}.012.${mac}`,
    `${id}.12.0.${mac}`,
    `${id}.1e1.${mac}`,
    `${newId()}.12.${mac}`,
    `${id}.12.${mac.slice(0, -1)}${neighbour}`,
    `${id}.12.${mac.slice(0, -1)}`,
    `${id}.12.`,
    `${token}\n`,
    ` ${token}`,
    "",
    "..",
    "\u0000.1.\ud800",
  ];
  for (const forgery of forgeries) expect(readRefreshToken(key, forgery), forgery).toBeUndefined();
  expect(readRefreshToken(randomBytes(32), token)).toBeUndefined();
});
