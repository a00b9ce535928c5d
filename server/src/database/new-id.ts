import { randomFillSync } from "node:crypto";

const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz";
/** For about a hundred ids: one call of the generator costs as much for them as for one. */
const bytes = Buffer.alloc(3000);
let used = bytes.length;

/** 25 characters of 0-9 and a-z, random in every position (G18): an environment's id names folders and sockets. */
export function newId(): string {
  let id = "";
  while (id.length < 25) {
    if (used === bytes.length) {
      randomFillSync(bytes);
      used = 0;
    }
    const byte = bytes[used++] ?? 255;
    if (byte < 252) id += alphabet[byte % 36];
  }
  return id;
}
