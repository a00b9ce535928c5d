import { generateKeyPairSync } from "node:crypto";

/** Made by ssh-keygen, with what its option -l prints. The private halves are gone. */
export const publicKeys = [
  {
    type: "ssh-ed25519",
    base64: "AAAAC3NzaC1lZDI1NTE5AAAAILoozBIPsExpuBQjtTR+M/Iunl+m6YWUwzRNye+8N9yh",
    fingerprint: "SHA256:QZn4mK25os9ZggvOu6cTr6SvhEyakwh9GHBSjqHyV5Y",
  },
  {
    type: "ecdsa-sha2-nistp256",
    base64:
      "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBNkPbDMSuYgTlFWpm57T2f0AD3N8fBvpcEu9pkkVeU6yvEPEVHwrRYaXpORzUydiGep6UpSUIsJN/LJ+JNPa7Uw=",
    fingerprint: "SHA256:6+5NZ4BzeGISr5o86ify0j+BHVRADjgvbq3P5705rs8",
  },
  {
    type: "ecdsa-sha2-nistp384",
    base64:
      "AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBObTaPMW/WTqnWc7Y0xMGRQOG4xFOrlbqshcmXa03XQRVNLUrmuuwJSzHiYg8elo9ytVX/tMAuDiHThheb0pGA8mRNgHxgypgybMB9mFoUL9//Nd0ZNGqE/wGDHjwRGXaw==",
    fingerprint: "SHA256:vHmUPc7WMyo0M9ept6abRGtTZmbMuG4BAz31Gi3U1/g",
  },
  {
    type: "ecdsa-sha2-nistp521",
    base64:
      "AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBAAuPggtsrqMk1JIp2alYBsF1B7jkQ9MLOzDs7KxlSsx0EZwwXmsKFLQAp0BWAJFnAHDGZhJneuogNTWa+Wqd/f8PAEe3tjGoOmw0dYxIapzMlOeUUI0TyywUYA9HPvtdXq9NpRetg4QpSaDPjTpoNgz8dNRb9lEIp6Kgt02TY7iaQDR3g==",
    fingerprint: "SHA256:0S74ukIWsKBaSTZhPtvMcKbcz14hbThR1bJX7wpGZXo",
  },
  {
    type: "ssh-rsa",
    base64:
      "AAAAB3NzaC1yc2EAAAADAQABAAABAQD5BZfDtSCtAqlyuKC2BcwPyF1X7xkqpa38MI+dw0rkiqCfIsK/xeJb3tFHVRpa0Hb7MFbGe2AOpCN5fyaia3YNVwO8Va+pxglkkBH9D+2IXzLAFCA9oiILARsmqTZmcgpHGmDx9GZfwzMFIVWshFCcKnnSeMGSApca+U2/VJ0xHM2AfI2ZDuvRNMOYFI/cw7CcV7g76y4bKaA9S8+iXEFKoBTR34IjAQEMIvC78bGAvceahtKTuYigrq7B6ZBNx3M9ZSeBWxfyLiCmgsD/YyKD6N4y7NnpZTQ4FcOEw89+F2gLfEix72JDqa46xTG1VaegSNNZL50VwO0qpD6Gbm9J",
    fingerprint: "SHA256:k+hKBwQTLb5lWFnskAcjHhCVqe06+688WvQqV250AEk",
  },
  {
    type: "ssh-rsa",
    base64:
      "AAAAB3NzaC1yc2EAAAADAQABAAABgQDJvKP5XFXNIrT6Jm9+a7IY8Q7ndOS8Cy2aIWjWaiOsB3oh5H6kDd40fIrOXF0y/bhYIEwdqqQVoL9t7cTdnaXoaEXFBRuQLqrw4j/sOU+zjsPVxaGi/qHW1miOctNFahFOS9eCx/PaQsmqb5qpumKongPfFCMq6E0tDl0bZLeIeaOhgsUlyA6uYa7VQsDcWwj+v2YgSqTpXMNAoY1F7f7wziDiMN2zH1tJjVgvN7o/gEb4Pa1lhK7uZHdlwfqo9iAs388i55ObX7pNzOxuSpFN2bSMx7gePthWnz2UmMLQhVe+FrO+qB//e5l7wGIYA4HlK2DFwEtthxCqhQ+KUj18GfukbC2mQeO5aTjVkG1VwBD0y5/MyTGkO+G2btSQioze5o/vqzLDS9ZEjj0S6QOqq0gpZGrWWHoFJw6T8lMi414331Dpq2QPQ/u3LHtWlGQermPadw2cz0BbJx4h9BiGPBHvasYo6W1MX0SoX0gA7v9U0Api7yDSGRV5R7gg9wE=",
    fingerprint: "SHA256:adr36r8Mwdmj6ZW3qD11LorTFcfNt5XA9gk3HYerFY4",
  },
  {
    type: "sk-ssh-ed25519@openssh.com",
    base64: "AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAILoozBIPsExpuBQjtTR+M/Iunl+m6YWUwzRNye+8N9yhAAAABHNzaDo=",
    fingerprint: "SHA256:cw6gRxVhd57D5RWuIFitvqNU6hE6AREe48Y+Dpyn/wE",
  },
  {
    type: "sk-ecdsa-sha2-nistp256@openssh.com",
    base64:
      "AAAAInNrLWVjZHNhLXNoYTItbmlzdHAyNTZAb3BlbnNzaC5jb20AAAAIbmlzdHAyNTYAAABBBNkPbDMSuYgTlFWpm57T2f0AD3N8fBvpcEu9pkkVeU6yvEPEVHwrRYaXpORzUydiGep6UpSUIsJN/LJ+JNPa7UwAAAAEc3NoOg==",
    fingerprint: "SHA256:mt09GueJLEUZQ4t7aDDlehq8pfzGrdKM15O+ipFaqtA",
  },
] as const;

/** Of 1024 bits, by ssh-keygen. */
export const shortRsaKey =
  "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQDKXK5nu+qqQTAZa/w9zbGlM/ySxmElvILG4WHgAwqHnykVx6WknINMr9DFHyPz9KeT6QEophDIMkW7p27h5ToGYEZlZ087e2v8J0/+087n5zg+UkiAsP8oSi9gyca1RdV9s2k5ChQS0lmLTdIs7CaJ0FIbyjLxHEz5me6ptxDyHw==";

/** The parts of a key's blob (RFC 4251, section 5). */
export function blobOf(...parts: readonly (string | Buffer)[]): string {
  const bytes = parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part));
  const size = (length: number) => Buffer.from([length >>> 24, length >>> 16, length >>> 8, length]);
  return Buffer.concat(bytes.flatMap((part) => [size(part.length), part])).toString("base64");
}

/** The line of a new key's .pub file. */
export function newPublicKey(comment = "ada@laptop"): string {
  const { x = "" } = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
  return `ssh-ed25519 ${blobOf("ssh-ed25519", Buffer.from(x, "base64url"))} ${comment}`;
}
