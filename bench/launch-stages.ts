import { type Customer, create, must, orderAndPay, type Paid, send, until } from "../testing/customer.ts";
import type { Product } from "../testing/product.ts";
import { quantile } from "./quantiles.ts";

/** Milliseconds from the payment to each stage. */
export type Stamps = ReadonlyMap<string, number>;

export const prepared = ({ url }: Product) => preparedAt(url);

/** Once a second: `npm start` has the limits of an installation, and a first preparation takes minutes. */
export const preparedAt = (url: string) => until("JupyterLab to be prepared", () => isPrepared(url), 600_000, 1000);

async function isPrepared(url: string): Promise<boolean> {
  const { types } = await must(url, "GET", "/capacity");
  return types.some(({ type, state }: { type: string; state: string }) => type === "jupyter" && state === "ready");
}

/** Orders, launches and ends one environment. */
export async function launchOnce({ url }: Product, customer: Customer, subdomain: string): Promise<Stamps> {
  const { stamps, id } = await launchPaid(url, customer, await orderAndPay(url, customer, { subdomain, gpuCount: 1 }));
  await endRental(url, customer, { id, subdomain });
  return stamps;
}

/** Launches a paid order; `paidAt` is by the server's clock. */
export async function launchPaid(url: string, customer: Customer, paid: Paid) {
  // The call waits for a while, and says "pending" when that was too short.
  const body = await until("the environment to be active", () => createdBy(url, customer, paid), 300_000);
  const id: string = body.environment_id;
  const { environment } = await must(url, "GET", `/environments/${id}`, { token: customer.idToken });
  const stages: readonly { stage: string; at: string }[] = environment.stages;
  const paidAt = Date.parse(stages.find(({ stage }) => stage === "paid")?.at ?? "");
  return { id, paidAt, stamps: new Map(stages.map(({ stage, at }) => [stage, Date.parse(at) - paidAt])) };
}

async function createdBy(url: string, customer: Customer, paid: Paid) {
  const { body } = await create(url, customer, paid);
  if (body.status !== "active" && body.status !== "pending") throw new Error(`not active: ${JSON.stringify(body)}`);
  return body.status === "active" && body;
}

export async function endRental(
  url: string,
  { idToken: token }: Customer,
  { id, subdomain }: { id: string; subdomain: string },
): Promise<void> {
  await must(url, "POST", `/environments/${id}/terminate`, { token, body: { confirm: subdomain } });
  await until("the environment to end", async () => {
    // A machine with too much to do may answer 503.
    const { status, body } = await send(url, "GET", `/environments/${id}`, { token });
    return status === 200 && body.environment.status === "terminated";
  });
}

export const readyOf = (all: readonly Stamps[]): number[] => all.map((stamps) => stamps.get("ready") ?? Number.NaN);

export function report(name: string, all: readonly Stamps[]): void {
  console.log(`\n${name}, ${all.length} launches, since paid${" ".repeat(8)}p50        p95`);
  for (const stage of all[0]?.keys() ?? []) {
    const at = all.map((stamps) => stamps.get(stage) ?? Number.NaN);
    console.log(`  ${stage.padEnd(34)} ${ms(quantile(at, 0.5)).padStart(10)} ${ms(quantile(at, 0.95)).padStart(10)}`);
  }
}

const ms = (value: number): string => `${Math.round(value)} ms`;
