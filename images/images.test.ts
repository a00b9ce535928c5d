import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recipes } from "@berth/contract";
import { describe, expect, onTestFinished, test } from "vitest";
import { readCatalogue, recordImage, replacedImages } from "../server/src/drivers/docker/images/image-catalogue.ts";
import { partsOfLab } from "../server/src/drivers/process/lab-command.ts";
import { checkImage } from "./check-image.ts";
import { docker, folder } from "./docker-command.ts";
import { stagesOf } from "./stages-of.ts";

const image = "berth/jupyter:local";
const absent = await docker(["image", "inspect", image]).then(
  () => undefined,
  (error: Error) => error.message,
);

describe.skipIf(absent)(
  absent ? `checks of an image, skipped because: ${absent}` : "checks of an image",
  { timeout: 60_000 },
  () => {
    /** The same image with one layer on top. */
    async function spoilt(instruction: string): Promise<string> {
      const name = `berth-test:${crypto.randomUUID()}`;
      const input = `FROM ${image}\nUSER 0\nRUN ${instruction}\nUSER 1000\n`;
      await docker(["build", "--quiet", "--network", "none", "--tag", name, "-"], {
        input,
        env: { DOCKER_BUILDKIT: "0" },
      });
      onTestFinished(async () => {
        await docker(["image", "rm", "--force", name]);
      });
      return name;
    }

    test("an image of npm run images serves with an empty home, the options of a run and no network", async () => {
      expect(await checkImage("jupyter", image)).toEqual({ python: "3.11.2", jupyterlab: "4.6.6", tensor: null });
    });

    test.each([
      ["chmod u+s /usr/bin/less", "/usr/bin/less changes its user"],
      ["rm -r /opt/berth/runtime/lib/python3.11/site-packages/jupyterlab/__pycache__", "without bytecode"],
      ["ln -s /usr/bin/true /usr/bin/node", "Node is on PATH"],
    ])("refused after: %s", async (instruction, problem) => {
      await expect(checkImage("jupyter", await spoilt(instruction))).rejects.toThrow(problem);
    });

    test("a type without its packages fails the tensor check", async () => {
      await expect(checkImage("pytorch", image)).rejects.toThrow("No module named 'torch'");
    });
  },
);

test("a type is built from the base and its own stage only", async () => {
  const whole = await readFile(join(folder, "Dockerfile"), "utf8");
  for (const type of recipes) {
    const from = stagesOf(type, whole).match(/^FROM .*$/gm);
    expect(from).toEqual(["FROM $BASE_IMAGE AS base", `FROM base AS ${type}`]);
    expect(stagesOf(type, whole)).toContain("ARG BASE_IMAGE=debian:bookworm-slim\n");
    // lab.py reads the parts beside it.
    expect(stagesOf(type, whole)).toContain(`COPY finish.py lab.py ${partsOfLab.join(" ")} start-lab /opt/berth/\n`);
  }
  expect(stagesOf("tensorflow", whole)).toContain("install-packages tensorflow");
  expect(stagesOf("tensorflow", whole)).not.toContain("pytorch.txt");
});

test("every locked package has hashes, and the requested versions are in the lock", async () => {
  const place = join(folder, "requirements");
  for (const name of (await readdir(place)).filter((each) => each.endsWith(".txt"))) {
    const asked = (await readFile(join(place, name), "utf8")).match(/^[a-z].*$/gm) ?? [];
    const lock = await readFile(join(place, name.replace(".txt", ".lock")), "utf8");
    const packages = lock.split(/\n(?=[a-z])/);
    expect(packages.filter((each) => !each.includes("--hash=sha256:"))).toEqual([]);
    for (const one of asked)
      expect(
        packages.some((each) => each.startsWith(`${one.replace(/\[.*\]/, "")} `)),
        one,
      ).toBe(true);
  }
});

test("the catalogue keeps one image of each type, and is empty before the first", async () => {
  const place = await mkdtemp(join(tmpdir(), "berth-catalogue-"));
  onTestFinished(() => rm(place, { recursive: true }));
  const path = join(place, "catalogue.json");
  expect(await readCatalogue(path)).toEqual({});
  const one = {
    digest: "sha256:1",
    unpackedBytes: 2,
    compressedBytes: 1,
    facts: {},
    checkedAt: "2026-01-01T00:00:00Z",
  };
  await recordImage("jupyter", one, path);
  await recordImage("pytorch", { ...one, digest: "sha256:3" }, path);
  await recordImage("jupyter", { ...one, digest: "sha256:2" }, path);
  expect(await readCatalogue(path)).toEqual({
    jupyter: { ...one, digest: "sha256:2" },
    pytorch: { ...one, digest: "sha256:3" },
  });
  for (const reference of ["a@1", "a@2", "a@3", "a@1"]) await recordImage("jupyter", { ...one, reference }, path);
  expect(await replacedImages(path)).toEqual(["a@2", "a@3"]);
});

test.each([
  ["an unknown type", ["torch"], {}, 1, "There is no image torch: jupyter, pytorch, tensorflow."],
  ["an unknown option", ["--help"], {}, 1, "Unknown option '--help'.* npm run images -- "],
  ["a machine without Docker", ["jupyter"], { PATH: "/nowhere" }, 3, "There is no docker command on this machine"],
])("%s: one line without a stack", (_, types, env, status, words) => {
  const done = spawnSync(process.execPath, [join(folder, "run.ts"), ...types], { env, encoding: "utf8" });
  expect(done).toMatchObject({ status, stderr: expect.stringMatching(new RegExp(`^${words}.*\\n$`)) });
});
