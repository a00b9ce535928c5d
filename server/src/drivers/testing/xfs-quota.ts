import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Why quotas of homes cannot be tested on this machine; undefined where they can. */
export function whyNoXfs(): string | undefined {
  if (process.getuid?.() !== 0) return "only root may mount a file system";
  try {
    sh("for tool in mkfs.xfs xfs_quota xfs_io mount; do command -v $tool; done");
  } catch {
    return "there is no mkfs.xfs or xfs_quota (package xfsprogs)";
  }
  try {
    sh("modprobe xfs 2>/dev/null || true; grep -qw xfs /proc/filesystems && losetup -f");
  } catch {
    return "this kernel has no xfs or no loop devices";
  }
  return undefined;
}

export function sh(commands: string): string {
  return execFileSync("/bin/sh", ["-ec", `PATH=$PATH:/usr/sbin:/sbin; ${commands}`], { stdio: "pipe" }).toString();
}

/** The same for quotas: some kernels have xfs without them. */
export async function whyNoLimits(): Promise<string | undefined> {
  const absent = whyNoXfs();
  if (absent) return absent;
  try {
    await mountXfs("prjquota").close();
    return undefined;
  } catch {
    return "this kernel's xfs has no quotas (CONFIG_XFS_QUOTA)";
  }
}

/** A small xfs of its own, in a file; gone with the test. */
export function openXfs({ options = "prjquota" }: { options?: string } = {}): string {
  const { at, close } = mountXfs(options);
  onTestFinished(close);
  return at;
}

function mountXfs(options: string) {
  const folder = mkdtempSync(join(tmpdir(), "berth-xfs-"));
  const at = join(folder, "disk");
  const close = async () => {
    sh(`! mountpoint -q ${at} || umount ${at} || umount -l ${at}`);
    await rm(folder, { recursive: true });
  };
  const commands = `truncate -s 320M image; mkfs.xfs -q image; mkdir disk; mount -o loop,${options} image disk`;
  try {
    sh(`cd ${folder}; ${commands}`);
  } catch (error) {
    void close();
    throw error;
  }
  return { at, close };
}
