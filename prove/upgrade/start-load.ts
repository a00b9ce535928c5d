import { setTimeout as sleep } from "node:timers/promises";
import { type Customer, orderAndPay, signUp } from "../../testing/customer.ts";
import { ask, type EnvironmentAddress } from "../notebook.ts";

interface LoadFigures {
  answered: number;
  /** Failed, or answered with something else than 200. */
  readonly lost: string[];
  longestMs: number;
}

export interface Bought {
  readonly customer: Customer;
  readonly orderId: string;
}

interface Load {
  readonly figures: LoadFigures;
  /** Ends it and returns what was paid. */
  stop(): Promise<readonly Bought[]>;
}

const buyers = 3;
/** Each rents one GPU: with the two notebooks all eight slots. */
const ordersOfEach = 2;

/** Requests to the notebook, and customers who order and pay, until it is stopped. Nothing is tried twice. */
export function startLoad(url: string, address: EnvironmentAddress): Load {
  const figures: LoadFigures = { answered: 0, lost: [], longestMs: 0 };
  const bought: Bought[] = [];
  let isStopping = false;
  const count = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
    const began = performance.now();
    try {
      const done = await work();
      figures.answered++;
      return done;
    } catch (error) {
      figures.lost.push(`${what}: ${(error as Error).message}`);
      return undefined;
    } finally {
      figures.longestMs = Math.max(figures.longestMs, Math.round(performance.now() - began));
    }
  };
  const readNotebook = async () => {
    while (!isStopping) {
      await count("notebook", async () => {
        const { status } = await ask(address, "/api/contents", { timeoutMs: 120_000 });
        if (status !== 200) throw new Error(String(status));
      });
      await sleep(20);
    }
  };
  const buy = async (_: unknown, buyer: number) => {
    for (let n = 0; !isStopping && n < ordersOfEach; n++) {
      const customer = await count("sign-up", () => signUp(url));
      if (!customer) continue;
      const order = { subdomain: `load-${buyer}-${n}`, gpuCount: 1 };
      const paid = await count("order", () => orderAndPay(url, customer, order));
      if (paid) bought.push({ customer, orderId: paid.payment_data.razorpay_order_id });
    }
  };
  const running = [readNotebook(), readNotebook(), ...Array.from({ length: buyers }, buy)];
  return {
    figures,
    async stop() {
      isStopping = true;
      await Promise.all(running);
      return bought;
    },
  };
}
