import { setTimeout as sleep } from "node:timers/promises";
import { create, must, orderAndPay, signUp, until } from "../../testing/customer.ts";
import { addressOf, type EnvironmentAddress, type Notebook, openNotebook } from "../notebook.ts";

interface Drop {
  /** What happened meanwhile, as `during` said. */
  readonly during: string;
  /** From the end of the connection to the next one. */
  readonly gapMs: number;
}

export interface NotebookFigures {
  cells: number;
  readonly drops: Drop[];
  /** Kernels that had forgotten what they counted. */
  readonly lost: string[];
}

export interface OpenNotebooks {
  readonly figures: NotebookFigures;
  /** Stops counting in environments whose machine will end, and with it their kernels. */
  leave(ids: readonly string[]): Promise<void>;
  /** Waits until those environments answer again, each with a new kernel. */
  untilBack(ids: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

interface Lab {
  readonly id: string;
  readonly idToken: string;
  readonly address: EnvironmentAddress;
  /** Set when nothing is counted there any more. */
  isLeft: boolean;
  counting?: Promise<void>;
}

const pauseMs = 250;
/** A connection whose other end is gone without a word carries nothing more. */
const silentMs = 10_000;
const retryMs = 50;

/** Customers who each rent one unit and count in a kernel, over one WebSocket, until they are stopped. */
export async function openNotebooks(
  shop: { readonly url: string; readonly port: number },
  count: number,
  during: () => string,
): Promise<OpenNotebooks> {
  const figures: NotebookFigures = { cells: 0, drops: [], lost: [] };
  const labs: Lab[] = [];
  for (let n = 0; n < count; n++) labs.push(await rentLab(shop, `counts-${n}`));
  for (const lab of labs) lab.counting = countIn(lab, figures, during);
  const leave = async (left: readonly Lab[]) => {
    for (const lab of left) lab.isLeft = true;
    await Promise.all(left.map(({ counting }) => counting));
  };
  const those = (ids: readonly string[]) => labs.filter(({ id }) => ids.includes(id));
  return {
    figures,
    leave: (ids) => leave(those(ids)),
    async untilBack(ids) {
      await Promise.all(those(ids).map((lab) => untilAnswers(shop, lab)));
    },
    stop: () => leave(labs),
  };
}

async function countIn(lab: Lab, figures: NotebookFigures, during: () => string): Promise<void> {
  const { address } = lab;
  let notebook = await openNotebook(address);
  await notebook.run("count = 0");
  let counted = 0;
  while (!lab.isLeft) {
    const ends = [notebook.closed, sleep(silentMs, undefined, { ref: false })].map((end) => end.then(() => undefined));
    const outcome = await Promise.race([countOnce(notebook), ...ends]).catch(() => undefined);
    if (outcome === undefined) {
      notebook.close();
      const next = await again(address, notebook.kernel, during());
      figures.drops.push(next.drop);
      notebook = next.notebook;
      // The cell may have run without its answer.
      if (!(next.count >= counted)) figures.lost.push(address.subdomain);
      counted = next.count;
      continue;
    }
    figures.cells++;
    if (outcome !== counted + 1) figures.lost.push(address.subdomain);
    counted = outcome;
    await sleep(pauseMs);
  }
  notebook.close();
}

async function countOnce(notebook: Notebook): Promise<number> {
  return Number(await notebook.run("count += 1; print(count)"));
}

/** Connects as often as it takes, and asks the kernel how far it has counted. */
async function again(address: EnvironmentAddress, kernel: string, during: string) {
  const began = performance.now();
  let gapMs = 0;
  const connected = await until(
    `the notebook ${address.subdomain} to connect again`,
    async () => {
      try {
        const notebook = await openNotebook(address, kernel);
        gapMs ||= Math.round(performance.now() - began);
        return { notebook, count: Number(await notebook.run("print(count)")) };
      } catch {
        await sleep(retryMs);
        return undefined;
      }
    },
    120_000,
  );
  return { ...connected, drop: { during, gapMs } };
}

async function untilAnswers(shop: { readonly url: string; readonly port: number }, lab: Lab): Promise<void> {
  const answers = async () => {
    try {
      const notebook = await openNotebook(await addressOf(shop, lab.idToken, lab.id));
      const printed = await notebook.run("print('back')");
      notebook.close();
      return printed === "back\n";
    } catch {
      await sleep(retryMs);
      return false;
    }
  };
  await until(`the notebook ${lab.address.subdomain} to answer again`, answers, 300_000);
}

async function rentLab(shop: { readonly url: string; readonly port: number }, subdomain: string): Promise<Lab> {
  const customer = await signUp(shop.url);
  const paid = await orderAndPay(shop.url, customer, { subdomain, gpuCount: 1, duration: 24 });
  const { status, body } = await create(shop.url, customer, paid);
  if (!body.environment_id) throw new Error(`create of ${subdomain} answered ${status}: ${JSON.stringify(body)}`);
  const { idToken } = customer;
  const id: string = body.environment_id;
  const isActive = async () => {
    const { environment } = await must(shop.url, "GET", `/environments/${id}`, { token: idToken });
    return environment.status === "active";
  };
  await until(`the environment ${subdomain}`, isActive, 300_000);
  return { id, idToken, address: await addressOf(shop, idToken, id), isLeft: false };
}
