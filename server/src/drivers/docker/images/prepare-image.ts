import { imagesCommand, operatorCommand } from "../../../text/operator-command.ts";
import { checkSegment } from "../../check-segment.ts";
import { type Driver, DriverError } from "../../driver.ts";
import { pruneEphemeral } from "../containers/ephemeral-container.ts";
import type { Engine } from "../engine/engine.ts";
import { engineErrorOf, orUndefined, pullError } from "../engine/engine-errors.ts";
import { readLines } from "../engine/read-stream.ts";
import type { EngineMachine } from "../machine/engine-machine.ts";

interface PrepareDeps {
  readonly engine: Engine;
  readonly install: string;
  readonly machine: EngineMachine;
  /** An image's reference by container type. */
  readonly images: (type: string) => Promise<string | undefined>;
  readonly recipeOf: (type: string) => string;
  /** References that this installation had before. */
  readonly replaced: () => Promise<readonly string[]>;
}

/** As `Driver.prepare`; also removes replaced images and stale containers. */
export function openPrepareImage(deps: PrepareDeps): Driver["prepare"] {
  const { engine, images, replaced } = deps;
  const pruned = new Set<string>();
  return async (image, progress = () => {}) => {
    const reference = await images(checkSegment("image", image));
    if (!(await hasImage(engine, reference))) {
      if (!isPullable(reference)) throw missingImage(image, deps);
      await pullImage(engine, reference, progress);
    }
    await pruneImages(engine, await replaced(), pruned);
    await pruneEphemeral(deps);
    progress(100);
  };
}

const byDigest = /^[^@]+@sha256:[0-9a-f]{64}$/;

/** Whether it names an image of a registry by digest; an image that was built here has an id alone. */
export function isPullable(reference: string | undefined): reference is string {
  return reference !== undefined && byDigest.test(reference);
}

/** Whether the engine has an image of this id, tag or digest. */
export async function hasImage({ docker, withTimeout }: Engine, reference: string | undefined): Promise<boolean> {
  const all = await withTimeout((abortSignal) => docker.listImages({ abortSignal }));
  return all.some(({ Id, RepoTags, RepoDigests }) =>
    [Id, ...(RepoTags ?? []), ...(RepoDigests ?? [])].includes(reference ?? ""),
  );
}

interface PullEvent {
  readonly id?: string;
  readonly status?: string;
  readonly progressDetail?: { readonly current?: number; readonly total?: number };
  readonly error?: string;
}

/** Throws `no_image` where the registry has no such image, `unavailable` where the registry does not answer. */
async function pullImage(
  { docker, explain }: Engine,
  reference: string,
  progress: (percent: number) => void,
): Promise<void> {
  const percentAfter = pullProgress();
  try {
    const stream = await docker.pull(reference);
    for await (const line of readLines(stream as AsyncIterable<Buffer>)) {
      const event = JSON.parse(line) as PullEvent;
      if (event.error) throw pullError(reference, event.error);
      progress(percentAfter(event));
    }
  } catch (error) {
    const refusal = engineErrorOf(error);
    throw refusal ? pullError(reference, refusal.message) : explain(error);
  }
}

/** Percent of all missing layers after each event of the engine; layers that are here already do not count. Never falls. */
export function pullProgress(): (event: PullEvent) => number {
  const layers = new Map<string, number>();
  let percent = 0;
  return (event) => {
    const share = shareOf(event);
    if (event.id && share !== undefined) layers.set(event.id, Math.max(share, layers.get(event.id) ?? 0));
    const sum = [...layers.values()].reduce((total, each) => total + each, 0);
    percent = Math.max(percent, Math.min(99, Math.floor(sum / Math.max(1, layers.size))));
    return percent;
  };
}

/** Percent of one layer: 70 for the download, 30 for the unpacking. */
function shareOf({ status = "", progressDetail: { current = 0, total = 0 } = {} }: PullEvent): number | undefined {
  const part = total > 0 ? Math.min(1, current / total) : 0;
  if (/^(Pulling fs layer|Waiting)/.test(status)) return 0;
  if (status === "Downloading") return 70 * part;
  if (/^(Verifying Checksum|Download complete)/.test(status)) return 70;
  if (status === "Extracting") return 70 + 30 * part;
  return status === "Pull complete" ? 100 : undefined;
}

/**
 * Removes the images that this installation has replaced, once: another installation on the same engine may pull one again.
 * The engine keeps an image that a container uses; that is tried again.
 */
async function pruneImages(
  { docker, withTimeout }: Engine,
  replaced: readonly string[],
  pruned: Set<string>,
): Promise<void> {
  // An image may be replaced a second time.
  for (const digest of pruned) if (!replaced.includes(digest)) pruned.delete(digest);
  const old = replaced.filter((digest) => !pruned.has(digest));
  if (old.length === 0) return;
  const all = await withTimeout((abortSignal) => docker.listImages({ abortSignal }));
  const here = all.flatMap(({ RepoDigests }) => RepoDigests ?? []);
  for (const digest of old) {
    if (!here.includes(digest)) pruned.add(digest);
    else await withTimeout((abortSignal) => orUndefined(docker.getImage(digest).remove({ ...{ abortSignal } }), 409));
  }
}

/** The engine's own name of an image that was pulled as `reference`: it leaves out the tag and the default registry. */
export function canonicalReference(reference: string, repoDigests: readonly string[]): string {
  const [name = "", digest = ""] = reference.split("@");
  const untagged = name.replace(/:[^:/]+$/, "");
  const same = repoDigests.filter((each) => each.endsWith(`@${digest}`));
  return same.find((each) => untagged.endsWith(each.split("@")[0] ?? "")) ?? same[0] ?? reference;
}

/** The error says how the image gets to that machine: by the recipe of its type. */
export function missingImage(
  type: string,
  {
    machine: { isLocal },
    recipeOf,
  }: { readonly machine: Pick<EngineMachine, "isLocal"> } & Pick<PrepareDeps, "recipeOf">,
): DriverError {
  const hint = isLocal
    ? `${imagesCommand(recipeOf(type))} builds it`
    : `${operatorCommand("hosts check HOST")} says how it gets there`;
  return new DriverError("no_image", `The image of ${type} is not on this host: ${hint}`);
}
