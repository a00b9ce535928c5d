import type { AnyEndpoint } from "@berth/contract";
import * as contract from "@berth/contract";
import { expect } from "vitest";
import { newPublicKey } from "../../account/ssh-keys/testing/public-keys.ts";
import { newId } from "../../database/new-id.ts";
import { settlePayment } from "../../payments/settlement/settle-payment.ts";
import { softwarePasskey } from "../../testing/software-passkey.ts";
import { containerRequest, orderBody, type TestApp, type TestUser, testApp } from "../../testing/test-app.ts";

/** A valid body for the owner, by path: a call without one could be refused for another reason. */
const bodies: Readonly<Record<string, (world: World) => unknown>> = {
  "/auth/logout": () => ({}),
  "/auth/verify-email": () => ({}),
  "/docker/payments/create_order": ({ victim }) => orderBody(victim.id, { subdomain: "another-lab" }),
  "/docker/payments/clear/{order_id}": () => ({}),
  "/orders/{order_id}/refund-request": () => ({ reason: "other", text: "It did not start at all." }),
  "/docker/environment/create": ({ victim, rented }) => ({
    container_request: containerRequest(victim.id),
    payment_data: rented.payment_data,
  }),
  "/docker/{action}_container/{container_id}/{user_id}": () => ({}),
  "/environments/{id}/extend": () => ({ duration: 1, amount: 0.4, currency: "USD" }),
  "/credits/launch": ({ victim }) => ({ container_request: containerRequest(victim.id, { subdomain: "free-lab" }) }),
  "/vouchers/redeem": () => ({ code: "AAAAA-AAAAA-AAAAA-AAAAA" }),
  "/environments/queue": () => ({ gpu_count: 1 }),
  "/environments/{id}/start": () => ({ without_settings: true }),
  "/environments/{id}/start_fresh": () => ({}),
  "/environments/{id}/terminate": () => ({ confirm: "first-lab" }),
  "/environments/{id}/cancel": () => ({}),
  "/environments/{id}/idle-stop": () => ({ minutes: 30 }),
  "/environments/{id}/idle-stop/snooze": () => ({}),
  "/environments/{id}/done-notice": () => ({ mode: "stop" }),
  "/environments/{id}/archive": () => ({}),
  "/names/{name}/give_free": () => ({}),
  "/environments/{id}/delete_files": () => ({ confirm: "first-lab" }),
  "/environments/{id}/sign-in-code": () => ({}),
  "/environments/{id}/share": () => ({ term: "1h" }),
  "/environments/{id}/share/{share_id}": () => ({}),
  "/environments/{id}/rotate-secret": () => ({}),
  "/notifications/read": () => ({ ids: [] }),
  "/profile/{user_id}/update": () => ({ name: "Mallory", phone: "666" }),
  "/settings/{user_id}/profile": () => ({ name: "Mallory", phone: "666" }),
  "/profile/{user_id}/update_password": () => ({ current_password: "good password 1", new_password: "stolen now 1" }),
  "/settings/{user_id}/flags": () => ({ billingAlerts: false }),
  "/support/tickets": ({ victim }) => ({
    issueType: "other",
    description: "Not mine",
    userEmail: victim.email,
    userId: victim.id,
  }),
  "DELETE /profile/{user_id}": () => ({ password: "good password 1" }),
  "/settings/{user_id}/second-factor": () => ({ password: "good password 1", code: "123456" }),
  "/settings/{user_id}/second-factor/confirm": () => ({ code: "123456" }),
  "/settings/{user_id}/second-factor/recovery-codes": () => ({ code: "123456" }),
  "/settings/{user_id}/passkeys": () => ({ name: "Key", credential: noPasskey }),
  "/settings/{user_id}/passkeys/options": () => ({ password: "good password 1" }),
  "/settings/{user_id}/passkeys/{passkey_id}": () => ({ password: "good password 1" }),
  "/settings/{user_id}/sign-ins": () => ({}),
  "/settings/{user_id}/linked-accounts": () => ({ provider: "1", password: "good password 1" }),
  "/settings/{user_id}/linked-accounts/finish": () => ({ code: "any" }),
  "/settings/{user_id}/linked-accounts/{link_id}": () => ({ password: "good password 1" }),
  "/settings/{user_id}/sign-ins/{sign_in_id}": () => ({}),
  "/settings/{user_id}/ssh-keys": () => ({ name: "", public_key: newPublicKey() }),
  "/settings/{user_id}/ssh-keys/{key_id}": () => ({}),
  "/settings/{user_id}/password": () => ({ currentPassword: "good password 1", newPassword: "stolen now 1" }),
};

/** Well formed, and of nobody. */
const noPasskey = {
  ...{ id: "eA", rawId: "eA", type: "public-key" },
  response: { clientDataJSON: "eA", attestationObject: "eA" },
};

export type Whose = "own" | "foreign" | "absent" | "malformed";
export type Assignment = Readonly<Record<string, string>>;

export interface World extends TestApp {
  readonly victim: TestUser;
  readonly outsider: TestUser;
  /** The victim's environment and unpaid order. */
  readonly rented: Awaited<ReturnType<TestApp["rent"]>>;
  readonly open: Awaited<ReturnType<TestApp["order"]>>;
  /** Of a link that shares the environment. */
  readonly shareCode: string;
  /** By path parameter. Some calls take an environment by its name too. */
  readonly values: Readonly<Record<string, Readonly<Partial<Record<Whose, readonly string[]>>>>>;
}

/** A victim with a running environment and an open order, and another user with an environment. */
export async function setupAccess(): Promise<World> {
  const product = await testApp();
  const stop = product.deliver();
  const [victim, outsider] = [await product.signUp("Victoria Secret"), await product.signUp("Trudy")];
  const rented = await product.rent(victim);
  const outsiders = await product.rent(outsider, { subdomain: "strange-lab" });
  const open = await product.order(victim, { subdomain: "second-lab" });
  await payBackPart(product, rented.payment_data.razorpay_payment_id);
  await payBackPart(product, outsiders.payment_data.razorpay_payment_id);
  const link = { id: newId(), user_id: victim.id, issuer: "https://id.example/", subject: "victoria" };
  await product.db.insertInto("identity_links").values(link).execute();
  const own = await idsOf(product, outsider, outsiders);
  const foreign = await idsOf(product, victim, rented);
  await stop();
  // Under the provider's id and under ours: `GET /orders/{order_id}` takes both.
  const { order } = await product.must("GET", `/orders/${open.id}`, victim.token);
  const values: World["values"] = {
    user_id: { own: [outsider.id], foreign: [victim.id], absent: [newId()] },
    id: { own: own.environment, foreign: [...foreign.environment, "first-lab"], absent: [newId(), "nobody-lab"] },
    container_id: { own: own.environment, foreign: foreign.environment, absent: [newId()] },
    sign_in_id: { own: [newId()], foreign: [victim.refreshToken.split(".")[0] ?? ""], absent: [newId()] },
    key_id: { own: own.key, foreign: foreign.key, absent: [newId()] },
    link_id: { own: [newId()], foreign: [link.id], absent: [newId()] },
    passkey_id: { own: [newId()], foreign: [await passkeyOf(product, victim)], absent: [newId()] },
    share_id: { own: own.share, foreign: foreign.share, absent: [newId()] },
    number: { own: own.receipts, foreign: foreign.receipts, absent: ["INV-00000000000"] },
    order_id: {
      own: own.order,
      foreign: [...foreign.order, open.id, order.id],
      absent: ["order_AAAAAAAAAAAAAA", "order_BBBBBBBBBBBBBB", newId()],
    },
    [`${contract.creditNote.path} number`]: {
      own: own.creditNotes,
      foreign: foreign.creditNotes,
      absent: ["CRN-00000000000"],
    },
  };
  return { ...product, victim, outsider, rented, open, shareCode: foreign.shareCode, values };
}

async function passkeyOf({ must }: TestApp, { id, token }: TestUser): Promise<string> {
  const path = `/settings/${id}/passkeys`;
  const { options } = await must("POST", `${path}/options`, token, { password: "good password 1" });
  const credential = softwarePasskey().create(options);
  return (await must("POST", path, token, { name: "Key", credential })).passkey.id;
}

interface Invoice {
  readonly number: string;
  readonly credit_notes: readonly string[];
}

async function idsOf({ must }: TestApp, { id, token }: TestUser, rented: Awaited<ReturnType<TestApp["rent"]>>) {
  const invoices: readonly Invoice[] = (await must("GET", `/billing/${id}`, token)).invoices;
  const link = await must("POST", `/environments/${rented.environment_id}/share`, token, { term: "1h" });
  const added = await must("POST", `/settings/${id}/ssh-keys`, token, { name: "", public_key: newPublicKey() });
  return {
    key: [added.ssh_key.id as string],
    environment: [rented.environment_id],
    order: [rented.payment_data.razorpay_order_id],
    share: [link.share.id as string],
    shareCode: new URL(link.url).search.replace(/^.*=/, ""),
    receipts: invoices.map(({ number }) => number),
    creditNotes: invoices.flatMap(({ credit_notes }) => credit_notes),
  };
}

/** By hand, in the provider's dashboard: the order has a credit note then. */
async function payBackPart({ payments }: TestApp, paymentId: string): Promise<void> {
  await payments.provider.refund({ paymentId, amountMinor: 1, key: `dashboard-${paymentId}`, notes: {} });
  await settlePayment(payments, await payments.provider.payment(paymentId));
}

/** The values of a path parameter; one name may have different values on different paths. */
export const valuesOf = ({ values }: Pick<World, "values">, { path }: AnyEndpoint, name: string) =>
  values[`${path} ${name}`] ?? values[name];

/** The contract's endpoints that are mounted. */
export function mounted({ routes }: TestApp): readonly AnyEndpoint[] {
  const known = new Set<unknown>(Object.values(contract));
  const endpoints = routes.flatMap(({ config }) => config?.endpoint ?? []);
  for (const endpoint of endpoints) expect(known, `${endpoint.path} in the contract`).toContain(endpoint);
  return endpoints;
}

export const namesIn = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map((match) => String(match[1]));

/** Escaped as they stand in a path. They are no ids, though the router takes them for such. */
const malformed = ["%00", "not%20an%20id", "..%2fprofile", "%F0%9F%9A%80"];

/** Every combination of owners of the ids in a path, and of values of closed sets. Throws for a parameter without values here. */
export function assignments(world: World, endpoint: AnyEndpoint, whose: readonly Whose[]): readonly Assignment[] {
  let all: readonly Assignment[] = [{}];
  for (const name of namesIn(endpoint.path)) {
    const closed = endpoint.values?.[name];
    const found = valuesOf(world, endpoint, name);
    if (!closed && !found) throw new Error(`no cell for {${name}} of ${endpoint.path}`);
    const choices = closed ?? whose.flatMap((each) => (each === "malformed" ? malformed : (found?.[each] ?? [])));
    all = all.flatMap((before) => choices.map((choice) => ({ ...before, [name]: choice })));
  }
  return all;
}

export const fill = (path: string, values: Assignment) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");

export function bodyOf(world: World, { method, path }: AnyEndpoint): unknown {
  if (method === "GET") return undefined;
  const body = bodies[`${method} ${path}`] ?? bodies[path];
  if (!body) throw new Error(`no body for ${method} ${path}`);
  return body(world);
}
