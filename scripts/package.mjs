// npm run package [-- image]: makes the release in dist/, and with `image` also the container image (docs/operate/install.md).
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buildWeb, install, installPackages, node, root, run } from "./setup.mjs";

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const name = `berth-${version}`;
const shipped =
  /^(bin|contract|deploy|docs|images|server)\/|^web\/package\.json$|^(\.env\.example|CHANGELOG\.md|LICENSE|README\.md|SECURITY\.md|package\.json|package-lock\.json)$/;
const forDevelopers =
  /^server\/build\.ts$|\.(test|suite)\.tsx?$|(^|\/)testing\/|\/system-tests\/|\/testing(-setup)?\.ts$|(^|\/)[\w.]*tsconfig\.json$/;

const words = process.argv.slice(2);
if (words.some((word) => word !== "image")) {
  console.error("npm run package [-- image]");
  process.exit(2);
}
install();
buildWeb();
const folder = mkdtempSync(join(tmpdir(), "berth-package-"));
try {
  const stage = join(folder, name);
  copyProduct(stage);
  installProduction(stage);
  listComponents(stage);
  pack(folder);
  if (words.includes("image")) buildImage(stage);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function copyProduct(stage) {
  const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).split("\0");
  for (const path of tracked.filter((each) => shipped.test(each) && !forDevelopers.test(each))) {
    mkdirSync(join(stage, dirname(path)), { recursive: true });
    cpSync(join(root, path), join(stage, path));
  }
  for (const built of ["web/dist", "web/dist-console"])
    cpSync(join(root, built), join(stage, built), { recursive: true });
  run(node, ["server/build.ts", join(stage, "server/dist")]);
}

/**
 * With Node, PostgreSQL and its pg_dump for this platform, so that the machine that it runs on needs neither npm nor a network.
 */
function installProduction(stage) {
  const workspaces = ["--workspace=contract", "--workspace=server", "--include-workspace-root"];
  installPackages(["ci", "--omit=dev", ...workspaces], { cwd: stage });
  // Of Node only the program and its licence.
  for (const part of ["include", "share", "CHANGELOG.md"])
    rmSync(join(stage, `node_modules/node-${process.platform}-${process.arch}`, part), { recursive: true });
  run(node, ["server/src/operator/backup/fetch-postgres-tools.ts", join(stage, "postgresql-18.4.0")]);
}

/** What of others is in the release and in its browser app, with versions, licences and hashes (CycloneDX). */
function listComponents(stage) {
  const words = ["sbom", "--package-lock-only", "--omit=dev", "--sbom-format=cyclonedx"];
  const { serialNumber: _, ...list } = JSON.parse(execFileSync("npm", words, { cwd: root, encoding: "utf8" }));
  delete list.metadata.timestamp;
  writeFileSync(join(stage, "berth.cdx.json"), `${JSON.stringify(list, null, 2)}\n`);
}

/** A listing that can be compared: sorted names, one time, one owner. */
function pack(from) {
  mkdirSync(join(root, "dist"), { recursive: true });
  const file = `${name}-${process.platform}-${process.arch}.tar.gz`;
  const time = execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: root, encoding: "utf8" }).trim();
  const same = [
    "--sort=name",
    "--owner=0",
    "--group=0",
    "--numeric-owner",
    "--mode=u+rw,go+rX,go-w",
    `--mtime=@${time}`,
  ];
  run("tar", [...same, "--use-compress-program=gzip -n", "-C", from, "-cf", join(root, "dist", file), name]);
  const digest = createHash("sha256")
    .update(readFileSync(join(root, "dist", file)))
    .digest("hex");
  writeFileSync(join(root, "dist", `${file}.sha256`), `${digest}  ${file}\n`);
  console.log(`dist/${file}\n${digest}`);
}

/** On any base that apt can fill: BASE_IMAGE. */
function buildImage(stage) {
  const base = process.env["BASE_IMAGE"] ?? "debian:bookworm-slim";
  const file = join(stage, "deploy/Dockerfile");
  run("docker", ["build", "--build-arg", `BASE_IMAGE=${base}`, "--file", file, "--tag", `berth:${version}`, stage]);
  console.log(`berth:${version}`);
}
