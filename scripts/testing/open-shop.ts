import type { Database } from "../../server/src/database/database.ts";
import { runtimes } from "../../server/src/operator/backup/testing/setup-backup.ts";
import { freePort } from "../../server/src/testing/free-port.ts";
import { type Customer, create, must, orderAndPay } from "../../testing/customer.ts";
import { type Product, removeFolder, startProduct, temporaryFolder } from "../../testing/product.ts";
import { openProductDatabase } from "../../testing/seed.ts";

export interface Shop {
  readonly product: Product;
  readonly db: Database["db"];
  /** A folder for what the commands of pages write. */
  readonly folder: string;
  readonly metricsPort: number;
  /** Settings of the product, for commands beside it. */
  readonly env: Readonly<Record<string, string>>;
  readonly signUp: (email: string, password?: string) => Promise<Customer>;
  /** Rents for a day and waits for the environment. */
  readonly rent: (customer: Customer, subdomain: string) => Promise<Rented>;
  readonly close: () => Promise<void>;
}

export interface Rented {
  readonly environmentId: string;
  readonly orderId: string;
  readonly gatewayOrderId: string;
  readonly secret: string;
}

/** A started product with the embedded database and the fake driver, for the commands of the documentation's pages. */
export async function openShop(): Promise<Shop> {
  const metricsPort = await freePort();
  const product = await startProduct({ env: { RUNTIME: "fake", METRICS_PORT: String(metricsPort) } });
  const { db, close } = await openProductDatabase(product);
  const folder = temporaryFolder();
  return {
    ...{ product, db, folder, metricsPort },
    env: {
      ...{ PORT: String(product.port), METRICS_PORT: String(metricsPort), DATA_DIR: product.dataDir },
      ...{ RUNTIME: "fake", RUNTIMES_DIR: runtimes, LOG_LEVEL: "warn" },
    },
    signUp: (email, password = "a good password") => signUp(product.url, email, password),
    rent: (customer, subdomain) => rent(product.url, db, customer, subdomain),
    close: async () => {
      await close();
      await product.stop();
      for (const each of [product.dataDir, folder]) removeFolder(each);
    },
  };
}

async function signUp(url: string, email: string, password: string): Promise<Customer> {
  await must(url, "POST", "/auth/signup", { body: { email, password, name: "Ada Park" } });
  const body = { email, password, returnSecureToken: true };
  const signIn = "/identity/v1/accounts:signInWithPassword?key=local";
  const { localId, idToken, refreshToken } = await must(url, "POST", signIn, { body });
  return { userId: localId, email, password, idToken, refreshToken };
}

async function rent(url: string, db: Shop["db"], customer: Customer, subdomain: string): Promise<Rented> {
  const paid = await orderAndPay(url, customer, { subdomain, gpuCount: 1, duration: 24 });
  const { status, body } = await create(url, customer, paid);
  if (status !== 200) throw new Error(`${subdomain}: ${status} ${JSON.stringify(body)}`);
  const { id, order_id, secret } = await db
    .selectFrom("environments")
    .select(["id", "order_id", "secret"])
    .where("subdomain", "=", subdomain)
    .executeTakeFirstOrThrow();
  const gatewayOrderId = paid.payment_data.razorpay_order_id;
  return { environmentId: id, orderId: order_id, gatewayOrderId, secret };
}
