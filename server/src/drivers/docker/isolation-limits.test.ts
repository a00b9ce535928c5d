import { chmod, copyFile, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  engine,
  isolatedBody,
  newHome,
  runIsolated,
  runPlain,
  shell,
  whyNoFirewall,
} from "../testing/isolated-runs.ts";
import { observeContainer } from "./containers/observe-container.ts";

const absent = await whyNoFirewall();
const network = "none";

/** What a neighbour does meanwhile: starts programs, takes memory, writes a file. */
const ordinary = `import os, subprocess
block = bytearray(64 * 2**20)
open("file", "wb").write(block[:2**20])
print(subprocess.check_output(["echo", "well"], text=True).strip())`;

async function home(): Promise<string> {
  const folder = await newHome();
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

describe.skipIf(absent)(
  absent ? `limits of a run, skipped because ${absent}` : "limits of a run",
  { timeout: 60_000 },
  () => {
    test("the engine's socket makes its user root there; a run has none", async () => {
      const program = `import os, socket
found = []
for folder in ("/run", "/var/run", "/home/berth", "/tmp"):
    for name in os.listdir(folder):
        if "docker" not in name: continue
        with socket.socket(socket.AF_UNIX) as engine:
            engine.connect(os.path.join(folder, name))
            engine.send(b"GET /version HTTP/1.0\\r\\n\\r\\n")
            found.append(engine.recv(15).decode())
print(set(found))`;
      const plain = await runPlain(program, {
        NetworkMode: network,
        Binds: ["/var/run/docker.sock:/var/run/docker.sock"],
      });
      expect(plain.output).toBe("{'HTTP/1.0 200 OK'}");
      expect((await runIsolated(program, { network })).output).toBe("set()");
    });

    test("a run has no capabilities: no raw packets, devices, other owners or other users' files", async () => {
      const program = `import os, socket, stat
def tried(name, work):
    try:
        work()
        print(name)
    except OSError:
        pass
tried("raw packets", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close())
tried("device", lambda: os.mknod("/tmp/disk", 0o600 | stat.S_IFBLK, os.makedev(254, 0)))
open("/tmp/file", "w").close()
tried("other owner", lambda: os.chown("/tmp/file", 4242, 4242))
tried("shadow", lambda: open("/etc/shadow").close())
tried("root file system", lambda: open("/usr/bin/new", "w").close())
tried("other root", lambda: os.chroot("/tmp"))
tried("other user", lambda: os.setuid(0 if os.getuid() else 4242))`;
      const plain = await runPlain(program, { NetworkMode: network });
      expect(plain.output.split(/\r?\n/)).toEqual([
        "raw packets",
        "device",
        "other owner",
        "shadow",
        "root file system",
        "other root",
        "other user",
      ]);
      expect((await runIsolated(program, { network })).output).toBe("");
    });

    test("a setuid program of root in the home makes nobody root", async () => {
      const place = await home();
      await copyFile("/usr/bin/id", join(place, "id"));
      await chmod(join(place, "id"), 0o4755);
      const program = `import subprocess; print(subprocess.check_output(["/home/berth/id", "-u"], text=True).strip())`;
      const plain = await runPlain(program, { NetworkMode: network, Binds: [`${place}:/home/berth`] }, "1000");
      expect(plain.output).toBe("0");
      expect((await runIsolated(program, { network, home: place })).output).toBe("1000");
    });

    test("a fork bomb ends at the limit, and the neighbour starts programs meanwhile", async () => {
      const bomb = `import os, signal, time
children = []
try:
    for _ in range(300):
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
        children.append(child)
except OSError:
    pass
print(len(children), flush=True)
time.sleep(2)
for child in children: os.kill(child, signal.SIGKILL)`;
      expect((await runPlain(bomb, { NetworkMode: network })).output).toBe("300");
      const [isolated, neighbour] = await Promise.all([
        runIsolated(bomb, { network, limits: { pids: 64 } }),
        runIsolated(ordinary, { network, home: await home() }),
      ]);
      expect(Number(isolated.output)).toBeGreaterThan(50);
      expect(Number(isolated.output)).toBeLessThan(64);
      expect(neighbour.output).toBe("well");
    });

    test("a memory bomb ends only its own run, which is observed as out of memory", async () => {
      const bomb = `block = bytearray(400 * 2**20)\nfor at in range(0, len(block), 4096): block[at] = 1\nprint("taken")`;
      expect((await runPlain(bomb, { NetworkMode: network })).output).toBe("taken");
      const [isolated, neighbour] = await Promise.all([
        runIsolated(bomb, { network, limits: { memoryMb: 128 } }),
        runIsolated(ordinary, { network, home: await home() }),
      ]);
      expect(isolated.output).toBe("");
      expect(observeContainer(isolated.info)).toMatchObject({
        state: "stopped",
        exit: { code: 137, outOfMemory: true },
      });
      expect(neighbour.output).toBe("well");
    });

    test("a run fills its own home and nothing else, and JupyterLab still opens in it", async () => {
      const folder = await home();
      const [full, beside] = [join(folder, "full"), await home()];
      await shell(`truncate -s 24M ${folder}/disk; mkfs.ext4 -q ${folder}/disk; mkdir ${full}
      mount -o loop ${folder}/disk ${full}; chown 1000:1000 ${full}`);
      onTestFinished(async () => void (await shell(`umount ${full}`)));
      const fill = `import os
block = bytes(2**20)
for place in ("/home/berth", "/var/tmp", "/usr"):
    written = 0
    try:
        with open(os.path.join(place, "big"), "wb", buffering=0) as big:
            while written < 64 and big.write(block) == len(block): written += 1
    except OSError: pass
    print(place, "64" if written == 64 else "less" if written else "none")`;
      const plain = await runPlain(fill, { NetworkMode: network });
      expect(plain.output.split(/\s+/)).toEqual(["/home/berth", "64", "/var/tmp", "64", "/usr", "64"]);
      const isolated = await runIsolated(fill, { network, home: full });
      expect(isolated.output.split(/\s+/)).toEqual(["/home/berth", "less", "/var/tmp", "none", "/usr", "none"]);
      await writeFile(join(full, "rest"), Buffer.alloc(2 ** 20)).catch(() => {});
      expect((await statfs(full)).bavail).toBe(0);
      expect((await runIsolated(ordinary, { network, home: beside })).output).toBe("well");
      expect(await answersIn(full)).toBe("200");
    });
  },
);

/** The status with which JupyterLab answers its token's holder, started in this home. */
async function answersIn(home: string): Promise<string> {
  const container = await engine.docker.createContainer(isolatedBody({ network, home }));
  try {
    await container.start();
    const status = `-s -o /dev/null -w '%{http_code}' -H 'authorization: token open'`;
    const ask = () =>
      shell(`docker exec ${container.id} curl ${status} http://127.0.0.1:8888/api/contents`).catch(String);
    await expect.poll(ask, { timeout: 40_000 }).toBe("200");
    return await ask();
  } finally {
    await container.remove({ force: true });
  }
}
