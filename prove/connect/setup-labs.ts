import { freePort } from "../../server/src/testing/free-port.ts";
import { type Customer, create, must, orderAndPay, signUp, until } from "../../testing/customer.ts";
import { type Product, removeFolder, startProduct, temporaryFolder } from "../../testing/product.ts";
import { openSshClient, type SshClient } from "../../testing/ssh-client.ts";
import { preparedJupyter } from "../labs.ts";
import { addressOf, type EnvironmentAddress } from "../notebook.ts";

export interface Labs {
  readonly customer: Customer;
  readonly client: SshClient;
  /** The first is the one that `client.host` names. */
  readonly addresses: readonly EnvironmentAddress[];
  readonly hosts: readonly string[];
  /** Files of this machine, which end with the stack. */
  readonly folder: string;
  product(): Product;
  /** Kills the server with its gateway, and starts it again at the same ports. */
  restart(): Promise<void>;
}

/** A product with `count` JupyterLabs of one account, and an SSH client that knows them all. */
export async function setupLabs(stack: AsyncDisposableStack, count: number): Promise<Labs> {
  const folder = temporaryFolder();
  stack.defer(() => removeFolder(folder));
  const [port, sshPort] = [await freePort(), await freePort()];
  const env = { SSH_PORT: String(sshPort), SLOTS: String(count), GPUS_PER_USER: String(count) };
  const options = { port, dataDir: temporaryFolder(), env };
  let product = await startProduct(options);
  stack.defer(async () => {
    await product.stop();
    removeFolder(product.dataDir);
  });
  await preparedJupyter(product.url);
  const customer = await signUp(product.url);
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push(await rent(product, customer, `lab-${n}`));
  const addresses: EnvironmentAddress[] = [];
  for (const id of ids) addresses.push(await addressOf(product, customer.idToken, id));
  const client = await openSshClient(product.url, customer, ids, folder);
  return {
    ...{ customer, client, addresses, folder },
    hosts: addresses.map(({ subdomain }) => `${subdomain}.berth`),
    product: () => product,
    async restart() {
      await product.kill();
      product = await startProduct(options);
    },
  };
}

async function rent(product: Product, customer: Customer, subdomain: string): Promise<string> {
  const paid = await orderAndPay(product.url, customer, { subdomain, gpuCount: 1 });
  const { body } = await create(product.url, customer, paid);
  const isActive = async () => {
    const { environment } = await must(product.url, "GET", `/environments/${body.environment_id}`, {
      token: customer.idToken,
    });
    return environment.status === "active";
  };
  await until(`${subdomain} to be active`, isActive, 120_000, 250);
  return body.environment_id;
}
