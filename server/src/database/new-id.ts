import { randomBytes } from "node:crypto";

const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz";

/** 25 characters of 0-9 and a-z, random in every position (G18): an environment's id names folders and sockets. */
export function newId(): string {
  let id = "";
  while (id.length < 25) {
    for (const byte of randomBytes(32)) {
      if (byte < 252 && id.length < 25) id += alphabet[byte % 36];
    }
  }
  return id;
}
