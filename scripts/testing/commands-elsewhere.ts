/** The test or proof that runs a command, and words of that file that say so; or why nothing here does. */
export type RunBy = readonly [file: string, words: string] | string;

interface Elsewhere {
  readonly command: RegExp;
  readonly by: RunBy;
}

const proxies = ["server/src/system-tests/shipped-proxies.test.ts", "a rental is whole"] as const;
const hosts = ["server/src/system-tests/two-hosts.test.ts", 'hosts("add", "remote"'] as const;
const restic = ["server/src/operator/backup/restic.test.ts", "what is written is read again"] as const;
const release = ["prove/upgrade.ts", "a running installation from the release before"] as const;
const images = ["scripts/test.mjs", '"images/run.ts"'] as const;
const emulator = ["server/src/identity/testing/auth-emulator.ts", "scripts/auth-emulator.mjs"] as const;
const noSystemd = "it needs a machine whose first process is systemd";
const noRoot =
  "it changes a machine, as root; its packages are named, and its files are checked, in scripts/deploy-files.test.ts";

/** Commands of the pages that scripts/pages/page-commands.test.ts does not run itself. */
export const commandsElsewhere: readonly Elsewhere[] = [
  {
    command: /^curl .*\/\/\d+--/,
    by: ["server/src/gateway/port-hosts.test.ts", "A script has the environment's token"],
  },
  {
    command: /^curl .*mfaSignIn:finalize/,
    by: ["server/src/identity/second-factor-routes.test.ts", "mfaSignIn:finalize"],
  },
  {
    command: /^npm run operator -- users remove-factor /,
    by: ["server/src/operator/people/remove-factor.test.ts", '"remove-factor"'],
  },
  { command: /^npm test\b/, by: "it is the run that this test is part of" },
  { command: /^npm run auth-emulator\b/, by: emulator },
  { command: /^npm run package\b/, by: ["scripts/deploy-files.test.ts", "package refuses a word"] },
  { command: /^(npm run images --|berth images) /, by: images },
  { command: /^npm run operator -- prepare /, by: images },
  { command: /^npm run (--silent )?operator -- hosts (add|check|firewall) /, by: hosts },
  { command: /^docker (tag|push) /, by: "it needs a registry" },
  { command: /^docker save /, by: ["server/src/drivers/testing/copy-image.ts", "docker load"] },
  { command: /^docker(-compose| compose| run) /, by: noRoot },
  { command: /^(export RESTIC_|npm run operator -- (backup|backup verify|restore) s3:)/, by: restic },
  {
    command: /^npm run operator -- (backup verify|restore) \/var/,
    by: ["server/src/operator/backup/backup.test.ts", "and verify it"],
  },
  { command: /^(mkfs\.xfs|mount) /, by: ["server/src/drivers/testing/xfs-quota.ts", "mkfs.xfs"] },
  { command: /^nginx -t /, by: proxies },
  { command: /^(sha256sum -c|tar -xzf|ln -sfn?) \S*berth-\d/, by: release },
  {
    command: /^kubectl apply -f deploy\/kubernetes\/access\.yaml$/,
    by: ["server/src/drivers/testing/kubernetes-machine.ts", "deploy/kubernetes/access.yaml"],
  },
  {
    command: /^kubectl (create|exec|label|logs|port-forward|rollout|taint) |\| kubectl apply /,
    by: "it needs a cluster",
  },
  {
    command: /^helm (install|uninstall|upgrade) /,
    by: ["server/src/system-tests/helm-install.test.ts", "a cluster takes every object"],
  },
  { command: /^systemctl /, by: noSystemd },
  { command: /^apt-get (update|install)\b/, by: noRoot },
  { command: /^install -d /, by: noRoot },
  { command: /^journalctl /, by: noSystemd },
  { command: /^export BERTH_/, by: ["prove/machine/install-by-page.ts", "the commands of the page as they stand"] },
  { command: /^certbot /, by: "it needs a zone in the DNS" },
  {
    command: /^ssh -J berth@/,
    by: ["e2e/environment-live.spec.ts", "connects by OpenSSH with the config and the host keys"],
  },
  { command: /^ssh -L /, by: "it needs another machine" },
];

/** Every script of package.json. */
export const npmScripts: Readonly<Record<string, RunBy>> = {
  start: ["scripts/start.test.ts", "npm start runs the product"],
  test: "it is the run that this test is part of",
  dev: "it watches the sources for somebody who edits them",
  "test:changed": ["scripts/tests/related-tests.test.ts", "a change of settle-payment.ts"],
  check: ["scripts/tests/checks.mjs", "scripts/checks/check-citations.ts"],
  e2e: ["scripts/test.mjs", "e2e/playwright.config.ts"],
  bench: "measurements, by hand: they need the machine to themselves",
  images,
  pictures: "it draws the pictures of the pages again, after a change of the screens",
  package: ["scripts/deploy-files.test.ts", "package refuses a word"],
  schema: ["scripts/generate-schema.test.ts", "schemaFiles"],
  docs: ["scripts/pages/generate-docs.test.ts", "generatedDocs"],
  prove: ["scripts/test.mjs", '"prove/run.ts", "crash"'],
  "auth-emulator": emulator,
  operator: ["scripts/operator.test.ts", "npm run operator -- doctor"],
};
