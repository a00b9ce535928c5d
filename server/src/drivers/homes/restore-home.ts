import { readdir } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { type Driver, DriverError } from "../driver.ts";
import { type HomeStore, notEmpty } from "./home-store.ts";
import { unpackArchive } from "./unpack-archive.ts";

/** `Driver.restore` for homes in a folder of this machine. As root their files get this owner. */
export function restoreHome(
  { path, make }: Pick<HomeStore, "path" | "make">,
  owner: { readonly uid: number; readonly gid: number },
): Driver["restore"] {
  return async (spec, archive, signal) => {
    const folder = path(spec.home);
    if ((await readdir(folder).catch(() => [])).length > 0) throw notEmpty(spec.home);
    await make(spec);
    const unpack = (tar: AsyncIterable<Uint8Array>) => unpackArchive(tar, folder, { owner, wanted: requireText });
    await pipeline(archive, createGunzip(), unpack, { signal });
  };
}

/** Throws for the mark of bytes that are not UTF-8: the file would get another name. */
export function requireText(path: string): true {
  if (path.includes("\ufffd")) throw new DriverError("refused", "it has names of files that are not UTF-8");
  return true;
}
