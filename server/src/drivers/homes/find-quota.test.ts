import { execFile } from "node:child_process";
import { chownSync, mkdirSync, statfsSync, writeFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { openXfs, sh, whyNoLimits } from "../testing/xfs-quota.ts";
import { findQuota, mountOf, type Quota } from "./find-quota.ts";

const table = `24 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,discard
30 24 8:1 / /srv/homes rw - xfs /dev/sdb rw,attr2,prjquota
31 24 8:2 / /srv/with\\040blank rw shared:7 master:2 - xfs /dev/sdc rw,noquota
32 24 0:40 / /srv/homes rw - tmpfs tmpfs rw`;

test.for([
  ["/srv/other", "/", "ext4"],
  ["/srv/with blank/homes", "/srv/with blank", "xfs"],
  ["/srv/homes", "/srv/homes", "tmpfs"],
  ["/srv/homesick", "/", "ext4"],
])("%s lies on the file system at %s", ([path = "", at, type]) => {
  expect(mountOf(table, path)).toMatchObject({ path: at, type });
});

test("another file system is named as the reason", async () => {
  expect(await findQuota("/dev/shm/berth-homes")).toEqual({ missing: "/dev/shm/berth-homes is not on xfs" });
  await rm("/dev/shm/berth-homes", { recursive: true });
});

const absent = await whyNoLimits();

describe.skipIf(absent)(absent ? `limits of homes, skipped because ${absent}` : "limits of homes", () => {
  async function quotaOf(root: string): Promise<Quota> {
    const found = await findQuota(root);
    if ("missing" in found) throw new Error(found.missing);
    return found;
  }

  function openRoot(name = "homes") {
    const root = join(openXfs(), name);
    const make = (home: string) => mkdirSync(join(root, home), { recursive: true });
    make("");
    return { root, make, fill: (home: string, megabytes: number) => fill(join(root, home, "file"), megabytes) };
  }

  async function fill(path: string, megabytes: number): Promise<string> {
    return await writeFile(path, Buffer.alloc(megabytes * 1e6), { flush: true }).then(
      () => "written",
      (error) => error.code,
    );
  }

  const numberOf = (path: string) => Number(/projid = (\d+)/.exec(sh(`xfs_io -r -c lsproj '${path}'`))?.[1]);

  test("a home is limited to its quota, but not its neighbour or the rest of the disk", async () => {
    const { root, make, fill: fillHome } = openRoot();
    const quota = await quotaOf(root);
    make("ada");
    make("bob");
    await quota.limit("ada", 0.01);
    await quota.limit("bob", 0.05);
    expect(await fillHome("ada", 9)).toBe("written");
    expect(await fillHome("ada", 11)).toMatch(/ENOSPC|EDQUOT/);
    expect(await fillHome("bob", 40)).toBe("written");
    expect(await fill(join(root, "..", "server"), 40)).toBe("written");
    expect(numberOf(join(root, "ada"))).not.toBe(numberOf(join(root, "bob")));
    // What the file system says of itself inside is the home's own size.
    const { blocks, bsize } = statfsSync(join(root, "ada"));
    expect(blocks * bsize).toBeLessThanOrEqual(10_000_000 + bsize);
  });

  test("the project id survives a restart; a new limit replaces the old one; a repetition is a no-op", async () => {
    const { root, make, fill: fillHome } = openRoot();
    make("ada");
    await (await quotaOf(root)).limit("ada", 0.01);
    const number = numberOf(join(root, "ada"));
    const again = await quotaOf(root);
    await Promise.all([again.limit("ada", 0.02), again.limit("ada", 0.02)]);
    await again.limit("ada", 0.02);
    expect(numberOf(join(root, "ada"))).toBe(number);
    expect(await fillHome("ada", 19)).toBe("written");
    expect(await fillHome("ada", 21)).toMatch(/ENOSPC|EDQUOT/);
  });

  test("existing files count, also after a pass that was cut short, and a pipe does not block", async () => {
    const { root, make, fill: fillHome } = openRoot();
    make("ada/deep/er");
    expect(await fillHome("ada/deep/er", 8)).toBe("written");
    sh(`mkfifo ${root}/ada/deep/pipe; ln -s /etc/passwd ${root}/ada/deep/link`);
    const quota = await quotaOf(root);
    // As a server that was killed leaves it: the home is numbered, what is in it not yet.
    sh(`xfs_io -r -c 'chproj 77777777' ${root}/ada`);
    await quota.limit("ada", 0.01);
    expect(numberOf(join(root, "ada/deep/er/file"))).toBe(77777777);
    expect(await fillHome("ada", 4)).toMatch(/ENOSPC|EDQUOT/);
  });

  test("a project id is unique: neither that of the folder of all homes nor one in use elsewhere", async () => {
    const { root, make, fill: fillHome } = openRoot("homes of all");
    sh(`mkdir '${root}/../others'; cd '${root}'; xfs_io -r -c 'chproj 42' -c 'chattr +P' .
      xfs_quota -x -c 'limit -p bhard=200m 42' '${root}/..'`);
    make("ada");
    expect(numberOf(join(root, "ada"))).toBe(42);
    await (await quotaOf(root)).limit("ada", 0.01);
    expect(numberOf(join(root, "ada"))).not.toBe(42);
    expect(await fillHome("ada", 11)).toMatch(/ENOSPC|EDQUOT/);
    expect(await fill(join(root, "beside"), 11)).toBe("written");
    expect(sh(`xfs_quota -x -c 'report -p -n -N -b' '${root}/..'`)).toMatch(/^#42 +\d+ +0 +204800/m);
  });

  test("a deleted home leaves no limit, and an absent one is no error", async () => {
    const { root, make } = openRoot();
    const quota = await quotaOf(root);
    make("ada");
    await quota.limit("ada", 0.01);
    const number = numberOf(join(root, "ada"));
    const report = () => sh(`xfs_quota -x -c 'report -p -n -N -b' '${root}/..'`);
    expect(report()).toMatch(new RegExp(`^#${number} `, "m"));
    await quota.lift("ada");
    await rm(join(root, "ada"), { recursive: true });
    await quota.lift("ada");
    expect(report()).not.toMatch(new RegExp(`^#${number} `, "m"));
    // Nor does the trial of the start.
    expect(report().trim().split("\n")).toHaveLength(1);
  });

  test("the reason names what is missing: the mount option, the permission, the tool", async () => {
    const plain = openXfs({ options: "noquota" });
    expect(await findQuota(join(plain, "homes"))).toEqual({ missing: `${plain} is mounted without prjquota` });
    const { root } = openRoot();
    expect(await findQuota(root, "/bin-without")).toEqual({ missing: "xfs_quota is not installed (package xfsprogs)" });
    chownSync(root, 1000, 1000);
    const file = join(import.meta.dirname, "find-quota.ts");
    const script = `const { findQuota } = await import("${file}"); console.log(JSON.stringify(await findQuota("${root}")))`;
    sh(`chmod 755 ${join(root, "../..")}`);
    const options = { uid: 1000, gid: 1000, cwd: "/" };
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], options);
    expect(JSON.parse(stdout)).toEqual({ missing: "only root may set limits, and the server runs as somebody else" });
    writeFileSync(join(root, "kept"), "");
  });
});
