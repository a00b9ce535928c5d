import { once } from "node:events";
import { lchown, symlink } from "node:fs/promises";
import { join } from "node:path";
import { type ReadEntry, Unpack } from "tar";

interface Link {
  readonly path: string;
  readonly target: string;
  readonly uid: number;
  readonly gid: number;
}

/** Writes the files of a tar that are `wanted` below a folder, with their modes, times and, as root, their owners. */
export async function unpackArchive(
  tar: AsyncIterable<Uint8Array>,
  folder: string,
  wanted: (path: string) => boolean,
): Promise<void> {
  const links: Link[] = [];
  const filter = (path: string, entry: object) => {
    if (!wanted(path)) return false;
    const link = linkOf(path, entry as ReadEntry);
    if (link) links.push(link);
    return !link;
  };
  // Modes are those of the archive, whatever this process masks.
  const unpack = new Unpack({ cwd: folder, strict: true, chmod: true, processUmask: 0, filter });
  const isDone = once(unpack, "close");
  // Awaited below; a fault before that is not an unhandled one.
  isDone.catch(() => {});
  for await (const chunk of tar)
    if (!unpack.write(Buffer.from(chunk))) await Promise.race([once(unpack, "drain"), isDone]);
  unpack.end();
  await isDone;
  await makeLinks(links, folder);
}

function linkOf(path: string, { type, linkpath, uid = 0, gid = 0 }: ReadEntry): Link | undefined {
  return type === "SymbolicLink" && linkpath !== undefined ? { path, target: linkpath, uid, gid } : undefined;
}

/**
 * After all files, deepest first: nothing is ever written through a link. Unpack would change where links lead, and a
 * customer's link may lead anywhere, because it is followed only inside of an environment.
 */
async function makeLinks(links: readonly Link[], folder: string): Promise<void> {
  const depth = ({ path }: Link) => path.split("/").length;
  for (const link of links.toSorted((a, b) => depth(b) - depth(a))) {
    if (link.path.split("/").includes("..")) throw new Error(`${link.path} leads out of the backup`);
    const path = join(folder, link.path);
    await symlink(link.target, path);
    if (process.getuid?.() === 0) await lchown(path, link.uid, link.gid);
  }
}
