import { createHash } from "node:crypto";
import { chmod, lstat, mkdir, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DriverError } from "../driver.ts";

/** A private folder below the system's temporary one, named after the data folder, so that a restarted server finds it. */
export async function socketFolder(directory: string): Promise<string> {
  const name = createHash("sha256").update(directory).digest("hex").slice(0, 10);
  const path = join(await realpath(tmpdir()), `berth-${name}`);
  await mkdir(path, { recursive: true, mode: 0o700 });
  const entry = await lstat(path);
  if (!entry.isDirectory() || entry.uid !== process.getuid?.()) {
    throw new DriverError("refused", `${path} belongs to somebody else: remove it`);
  }
  await chmod(path, 0o700);
  return path;
}
