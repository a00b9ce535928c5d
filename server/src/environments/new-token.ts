import { randomBytes } from "node:crypto";

/** 128 random bits in hex, which headers and addresses take as they are. */
export function newToken(): string {
  return randomBytes(16).toString("hex");
}
