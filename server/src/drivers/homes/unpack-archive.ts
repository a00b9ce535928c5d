import { once } from "node:events";
import { chmod, lchown, symlink } from "node:fs/promises";
import { join } from "node:path";
import type { ReadEntry } from "tar";

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

interface Unpacking {
  /** By default everything is. */
  readonly wanted?: (path: string) => boolean;
  /** Of all that is unpacked, where this process is root; by default the owners of the archive. */
  readonly owner?: Owner | undefined;
}

/** What is done after all files, deepest first. */
interface Later extends Owner {
  readonly path: string;
  /** Where a link leads; a folder has none. */
  readonly target: string | undefined;
  readonly mode: number;
}

/** Writes the files of a tar below a folder, with their modes, times and, as root, their owners. */
export async function unpackArchive(
  tar: AsyncIterable<Uint8Array>,
  folder: string,
  { wanted = () => true, owner }: Unpacking = {},
): Promise<void> {
  const { Unpack } = await import("tar");
  const later: Later[] = [];
  const filter = (path: string, given: object) => {
    if (!wanted(path)) return false;
    const entry = given as ReadEntry;
    const isLink = entry.type === "SymbolicLink" && entry.linkpath !== undefined;
    if (isLink || isClosed(entry)) later.push(laterOf(path, entry));
    // Its owner could not write the files of a folder that is closed to them.
    if (isClosed(entry)) entry.mode = (entry.mode ?? 0) | 0o700;
    return !isLink;
  };
  // Modes are those of the archive, whatever this process masks.
  const own = process.getuid?.() === 0 ? owner : undefined;
  const unpack = new Unpack({ cwd: folder, strict: true, chmod: true, processUmask: 0, filter, ...own });
  const isDone = once(unpack, "close");
  // Awaited below; a fault before that is not an unhandled one.
  isDone.catch(() => {});
  for await (const chunk of tar)
    if (!unpack.write(Buffer.from(chunk))) await Promise.race([once(unpack, "drain"), isDone]);
  unpack.end();
  await isDone;
  await finish(later, folder, owner);
}

function isClosed({ type, mode = 0o700 }: ReadEntry): boolean {
  return type === "Directory" && (mode & 0o700) !== 0o700;
}

function laterOf(path: string, { type, linkpath, mode = 0, uid = 0, gid = 0 }: ReadEntry): Later {
  return { path, target: type === "SymbolicLink" ? linkpath : undefined, mode: mode & 0o777, uid, gid };
}

/**
 * Nothing is ever written through a link. Unpack would change where links lead, and a customer's link may lead anywhere,
 * because it is followed only inside of an environment.
 */
async function finish(later: readonly Later[], folder: string, owner: Owner | undefined): Promise<void> {
  const depth = ({ path }: Later) => path.split("/").filter((name) => name !== "").length;
  const deepestFirst = later.toSorted((a, b) => depth(b) - depth(a));
  const [links, folders] = [deepestFirst.filter(isLink), deepestFirst.filter((each) => !isLink(each))];
  for (const link of links) {
    if (link.path.split("/").includes("..")) throw new Error(`${link.path} leads out of the archive`);
    const path = join(folder, link.path);
    await symlink(link.target ?? "", path);
    const { uid, gid } = owner ?? link;
    if (process.getuid?.() === 0) await lchown(path, uid, gid);
  }
  for (const { path, mode } of folders) await chmod(join(folder, path), mode);
}

const isLink = ({ target }: Later) => target !== undefined;
