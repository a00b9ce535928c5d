import { checkSegment } from "../../check-segment.ts";
import { type Driver, DriverError } from "../../driver.ts";
import { readLines } from "../containers/container-logs.ts";
import { pruneEphemeral } from "../containers/ephemeral-container.ts";
import { type Engine, engineErrorOf, orUndefined } from "../engine/engine.ts";
import type { EngineMachine } from "../machine/engine-machine.ts";

interface PrepareParts {
  readonly engine: Engine;
  readonly install: string;
  readonly machine: EngineMachine;
  /** An image's reference by container type. */
  readonly images: (type: string) => Promise<string | undefined>;
  /** References that this installation had before. */
  readonly replaced: () => Promise<readonly string[]>;
}

/** `Driver.prepare`, which also takes away what is of no use any more. */
export function openPrepareImage(parts: PrepareParts): Driver["prepare"] {
  const { engine, machine, images, replaced } = parts;
  const pruned = new Set<string>();
  return async (image, progress = () => {}) => {
    const reference = await images(checkSegment("image", image));
    if (!(await hasImage(engine, reference))) {
      if (!isPullable(reference)) throw missingImage(image, machine);
      await pullImage(engine, reference, progress);
    }
    await pruneImages(engine, await replaced(), pruned);
    await pruneEphemeral(parts);
    progress(100);
  };
}

const byDigest = /^[^@]+@sha256:[0-9a-f]{64}$/;

/** Whether it names an image of a registry, by digest; what was built here has an id alone. */
export function isPullable(reference: string | undefined): reference is string {
  return reference !== undefined && byDigest.test(reference);
}

/** Whether an engine has what this names. */
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

/** Brings an image to the engine. Throws `no_image` where its registry has none, `unavailable` where none answers. */
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
      if (event.error) throw failure(reference, event.error);
      progress(percentAfter(event));
    }
  } catch (error) {
    const refusal = engineErrorOf(error);
    throw refusal ? failure(reference, refusal.words) : explain(error);
  }
}

function failure(reference: string, words: string): DriverError {
  const isUnknown = /manifest unknown|not found|does not exist|denied/i.test(words);
  return new DriverError(isUnknown ? "no_image" : "unavailable", `${reference} cannot be fetched: ${words}`);
}

/** Percent of all that is to come after each event of the engine; what is here already does not count. It never falls. */
export function pullProgress(): (event: PullEvent) => number {
  const layers = new Map<string, number>();
  let told = 0;
  return (event) => {
    const share = shareOf(event);
    if (event.id && share !== undefined) layers.set(event.id, Math.max(share, layers.get(event.id) ?? 0));
    const sum = [...layers.values()].reduce((total, each) => total + each, 0);
    told = Math.max(told, Math.min(99, Math.floor(sum / Math.max(1, layers.size))));
    return told;
  };
}

/** Percent of one layer: most of the time is the way here, the rest the unpacking. */
function shareOf({ status = "", progressDetail: { current = 0, total = 0 } = {} }: PullEvent): number | undefined {
  const part = total > 0 ? Math.min(1, current / total) : 0;
  if (/^(Pulling fs layer|Waiting)/.test(status)) return 0;
  if (status === "Downloading") return 70 * part;
  if (/^(Verifying Checksum|Download complete)/.test(status)) return 70;
  if (status === "Extracting") return 70 + 30 * part;
  return status === "Pull complete" ? 100 : undefined;
}

/**
 * Takes away what this installation has replaced, once: another one on the same engine may use the same, and fetches it
 * again. The engine itself keeps what a container uses; that is tried again.
 */
async function pruneImages(
  { docker, withTimeout }: Engine,
  replaced: readonly string[],
  pruned: Set<string>,
): Promise<void> {
  // It may be replaced a second time.
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

/** What the engine itself calls what was fetched under this name, so that it is found again: without a tag or the usual registry. */
export function canonicalReference(reference: string, repoDigests: readonly string[]): string {
  const [name = "", digest = ""] = reference.split("@");
  const untagged = name.replace(/:[^:/]+$/, "");
  const same = repoDigests.filter((each) => each.endsWith(`@${digest}`));
  return same.find((each) => untagged.endsWith(each.split("@")[0] ?? "")) ?? same[0] ?? reference;
}

/** Says how an image gets to that machine. */
export function missingImage(type: string, { isLocal }: Pick<EngineMachine, "isLocal">): DriverError {
  const way = isLocal ? `npm run images -- ${type} builds it` : "operator -- hosts check says how it gets there";
  return new DriverError("no_image", `The image of ${type} is not on this host: ${way}`);
}
