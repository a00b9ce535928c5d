import type { AnyEndpoint } from "@berth/contract";
import * as contract from "@berth/contract";
import { expect, onTestFinished } from "vitest";
import { publicKeys } from "../../account/ssh-keys/testing/public-keys.ts";
import { fakeGithub } from "../../identity/providers/testing/fake-github.ts";
import type { TestBrowser } from "../../identity/providers/testing/test-browser.ts";
import { createVouchers } from "../../operator/people/vouchers.ts";
import { settlePayment } from "../../payments/settlement/settle-payment.ts";
import { codeOf } from "../../testing/factor-code.ts";
import { softwarePasskey } from "../../testing/software-passkey.ts";
import {
  containerRequest,
  orderBody,
  type Sale,
  type TestApp,
  type TestUser,
  testApp,
} from "../../testing/test-app.ts";
import { providerCalls } from "./provider-calls.ts";

/** An example of an endpoint, as it was called. */
export interface Called {
  readonly endpoint: AnyEndpoint;
  readonly url: string;
  readonly body: unknown;
  /** Undefined for a file. */
  readonly reply: object | undefined;
  /** As it was sent. */
  readonly raw: Buffer;
}

interface Calls {
  readonly called: readonly Called[];
  readonly product: TestApp;
}

/** What is rented, of which catalogue; by default what containerRequest says, of the built-in one. */
interface Rented {
  readonly env?: Record<string, string>;
  readonly change?: Partial<contract.ContainerRequest>;
  readonly sale?: Sale;
}

interface Input {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly token?: string;
  /** With this browser's cookies. */
  readonly browser?: TestBrowser;
}

type Ask = (endpoint: AnyEndpoint, input?: Input) => Promise<Record<string, never>>;

/** Calls every endpoint once, as a customer would, and expects success of each. */
export async function callEverything({ env = {}, change = {}, sale = {} }: Rented = {}): Promise<Calls> {
  const jumpHost = { host: "berth.example", port: 2222, publicKey: `${publicKeys[0].type} ${publicKeys[0].base64}` };
  const hub = await fakeGithub();
  onTestFinished(hub.stop);
  const product = await testApp({ ...hub.env, ...env }, { jumpHost });
  const rented = { change, sale };
  await addImage(product, containerRequest("", change).container_type);
  const called: Called[] = [];
  const ask: Ask = async (endpoint, { params = {}, body, token, browser } = {}) => {
    const url = endpoint.path.replace(/\{(\w+)\}/g, (_: string, name: string) => params[name] ?? `{${name}}`);
    const answer = browser
      ? await browser.post(url, body as object, token)
      : await product.call(endpoint.method, url, token, body ?? (endpoint.method === "GET" ? undefined : {}));
    expect(answer.statusCode, `${endpoint.method} ${url}: ${answer.body}`).toBe(200);
    const reply = endpoint.media ? undefined : answer.json();
    called.push({ endpoint, url, body, reply, raw: answer.rawPayload });
    return reply;
  };
  await publicCalls(ask);
  const ada = await product.signUp("Ada Park");
  await accountCalls(ask, product, ada);
  await rentalCalls(ask, product, ada, rented);
  await billingCalls(ask, product, ada);
  await lastCalls(ask, product, ada, rented);
  return { called, product };
}

/** The host of testApp has the image of one type. */
async function addImage({ db }: TestApp, container_type: string): Promise<void> {
  const image = { host_id: "local", container_type, state: "ready" as const, percent: 100 };
  await db
    .insertInto("host_images")
    .values(image)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

async function publicCalls(ask: Ask) {
  for (const endpoint of [contract.productConfig, contract.capacity, contract.productStatus, contract.supportCatalog])
    await ask(endpoint);
  await ask(contract.countSearch, { body: { words: "quantum annealing" } });
  const email = "ada.park@example.com";
  await ask(contract.signup, { body: { email, password: "a good password", name: "Ada Park" } });
  await ask(contract.resetPassword, { body: { email } });
}

async function accountCalls(ask: Ask, product: TestApp, { id, token, email }: TestUser) {
  const { signUp } = product;
  const own = { params: { user_id: id }, token };
  for (const endpoint of [contract.validate, contract.verifyEmail, contract.listNotifications])
    await ask(endpoint, { token });
  await ask(contract.readNotifications, { token, body: { ids: [] } });
  await ask(contract.settings, own);
  const named = { name: "Ada Park", phone: "+91 98765 43210" };
  await ask(contract.settingsProfile, { ...own, body: named });
  await ask(contract.updateProfile, { ...own, body: named });
  await ask(contract.settingsFlags, { ...own, body: { billingAlerts: true } });
  const ticket = { issueType: "other", description: "A question.", userEmail: email, userId: id };
  await ask(contract.openTicket, { token, body: ticket });
  const other = await signUp("Ben");
  const others = { params: { user_id: other.id }, token: other.token };
  const [first, second, third] = ["good password 1", "good password 2", "good password 3"];
  await ask(contract.updatePassword, { ...others, body: { current_password: first, new_password: second } });
  await ask(contract.settingsPassword, { ...others, body: { currentPassword: second, newPassword: third } });
  await factorCalls(ask, others, third);
  const keyed = await signUp("Dee");
  await passkeyCalls(ask, { params: { user_id: keyed.id }, token: keyed.token }, first);
  const leaving = await signUp("Cy");
  await providerCalls(ask, product, leaving);
  await signInCalls(ask, { params: { user_id: leaving.id }, token: leaving.token });
  await keyCalls(ask, own);
  await ask(contract.deleteAccount, { ...others, body: { password: third } });
}

type Own = { readonly params: { readonly user_id: string }; readonly token: string };

async function factorCalls(ask: Ask, own: Own, password: string) {
  await ask(contract.secondFactor, own);
  const { secret } = await ask(contract.beginSecondFactor, { ...own, body: { password } });
  await ask(contract.confirmSecondFactor, { ...own, body: { code: codeOf(String(secret)) } });
  const renewed = await ask(contract.renewRecoveryCodes, { ...own, body: { code: codeOf(String(secret), 1) } });
  const [code] = renewed["recovery_codes"] as unknown as string[];
  await ask(contract.removeSecondFactor, { ...own, body: { code } });
}

async function passkeyCalls(ask: Ask, own: Own, password: string) {
  const device = softwarePasskey();
  const begun = await ask(contract.beginPasskey, { ...own, body: { password } });
  const credential = device.create(begun["options"] as unknown as contract.PasskeyCreationOptions);
  await ask(contract.addPasskey, { ...own, body: { name: "Chrome on Mac", credential } });
  const { options } = await ask(contract.beginPasskeySignIn);
  const used = device.use(options as unknown as contract.PasskeyRequestOptions);
  await ask(contract.passkeySignIn, { body: { credential: used } });
  const { passkeys } = await ask(contract.passkeys, own);
  const [{ id } = { id: "" }] = passkeys as unknown as { id: string }[];
  await ask(contract.removePasskey, { ...own, params: { ...own.params, passkey_id: id }, body: { password } });
}

async function signInCalls(ask: Ask, own: Own) {
  const { sign_ins } = await ask(contract.listSignIns, own);
  await ask(contract.endOtherSignIns, own);
  const [{ id } = { id: "" }] = sign_ins as unknown as { id: string }[];
  await ask(contract.endSignIn, { ...own, params: { ...own.params, sign_in_id: id } });
}

async function keyCalls(ask: Ask, own: Own) {
  const [{ type, base64 }] = publicKeys;
  const body = { name: "Laptop", public_key: `${type} ${base64} ada@laptop` };
  const { ssh_key } = await ask(contract.addSshKey, { ...own, body });
  await ask(contract.listSshKeys, own);
  const { id } = ssh_key as unknown as { id: string };
  await ask(contract.removeSshKey, { ...own, params: { ...own.params, key_id: id } });
}

async function rentalCalls(ask: Ask, product: TestApp, ada: TestUser, { change, sale }: Required<Omit<Rented, "env">>) {
  const { token } = ada;
  const wanted = orderBody(ada.id, change, sale);
  const { container_request, payment_request } = wanted;
  await ask(contract.subdomainCheck, { token, params: { name: "first-lab" } });
  const stop = product.deliver();
  const order = await ask(contract.createOrder, { token, body: wanted });
  const payment_data = await product.pay(order as never);
  const body = { container_request, payment_data };
  const { environment_id: id = "" } = await ask(contract.createEnvironment, { token, body });
  await stop();
  const own = { token, params: { id } };
  await ask(contract.environmentDetail, own);
  await ask(contract.environmentSamples, own);
  await ask(contract.listPorts, own);
  await ask(contract.signInCode, own);
  const { share } = await ask(contract.shareEnvironment, { ...own, body: { term: "24h" } });
  await ask(contract.revokeShare, { token, params: { id, share_id: (share as { id: string } | undefined)?.id ?? "" } });
  await ask(contract.rotateSecret, own);
  await ask(contract.setIdleStop, { ...own, body: { minutes: 60 } });
  // As announced by the reconciler, which does not run now.
  const stops = new Date(Date.now() + 600_000);
  await product.db.updateTable("environments").set({ idle_stop_at: stops }).where("id", "=", id).execute();
  await ask(contract.snoozeIdleStop, own);
  await ask(contract.setDoneNotice, { ...own, body: { mode: "stop" } });
  await ask(contract.archiveLink, own);
  const { amount, currency } = payment_request;
  const { duration } = container_request;
  const more = await ask(contract.extendEnvironment, { ...own, body: { duration, amount, currency } });
  await ask(contract.unpaidOrders, { token });
  await ask(contract.clearOrder, { token, params: { order_id: String(more["id"]) } });
  await ask(contract.orderDetail, { token, params: { order_id: String(order["id"]) } });
  await ask(contract.profile, { token, params: { user_id: ada.id } });
  const refund = { reason: "partial_downtime", text: "It was away from 10:00 to 10:20." };
  await ask(contract.askForRefund, { token, params: { order_id: String(order["id"]) }, body: refund });
  await payBackPart(product, payment_data.razorpay_payment_id);
  // As written by the reconciler when its machine gives no sign.
  const lost = { status: "unknown" as const, lost_since: new Date(), fault_since: new Date() };
  await product.db.updateTable("environments").set(lost).where("id", "=", id).execute();
  await ask(contract.startFresh, own);
  await endingCalls(ask, product, ada, id, change);
}

async function endingCalls(
  ask: Ask,
  product: TestApp,
  { id: user_id, token }: TestUser,
  id: string,
  change: Partial<contract.ContainerRequest>,
) {
  const statusOf = async () => (await product.must("GET", `/environments/${id}`, token)).environment.status;
  const stop = product.deliver();
  await expect.poll(statusOf).toBe("active");
  await ask(contract.actOnContainer, { token, params: { action: "stop", container_id: id, user_id } });
  await expect.poll(statusOf).toBe("stopped");
  await ask(contract.environmentSsh, { token, params: { id } });
  await ask(contract.listFiles, { token });
  await ask(contract.startEnvironment, { token, params: { id }, body: { without_settings: false } });
  await expect.poll(statusOf).toBe("active");
  await ask(contract.terminate, { token, params: { id }, body: { confirm: "first-lab" } });
  await expect.poll(statusOf).toBe("terminated");
  const credit = { id: "credit-of-a-code", user_id, gpu_hours: 8, source: "voucher" as const, note: "", alone: true };
  await product.db.insertInto("granted_credits").values(credit).execute();
  const container_request = containerRequest(user_id, { ...change, subdomain: "free-lab" });
  await ask(contract.launchWithCredit, { token, body: { container_request } });
  await ask(contract.deleteFiles, { token, params: { id }, body: { confirm: "first-lab" } });
  const names = async () => (await product.must("GET", "/files", token)).names;
  await expect.poll(names, { timeout: 15_000 }).toHaveLength(1);
  await ask(contract.giveFree, { token, params: { name: "first-lab" } });
  await stop();
}

/** By hand, in the provider's dashboard: the order has a credit note then. */
async function payBackPart({ payments }: TestApp, paymentId: string): Promise<void> {
  await payments.provider.refund({ paymentId, amountMinor: 1, key: `dashboard-${paymentId}`, notes: {} });
  await settlePayment(payments, await payments.provider.payment(paymentId));
}

async function billingCalls(ask: Ask, { db }: TestApp, { id: user_id, token }: TestUser) {
  const kind = { gpuHours: 10, count: 1, perMonth: undefined, expiresAt: undefined };
  const { codes } = await createVouchers(db, kind, { actor: "cli:test", reason: "Course" });
  await ask(contract.redeemVoucher, { token, body: { code: codes[0] } });
  await ask(contract.credits, { token });
  const { invoices } = (await ask(contract.billing, { token, params: { user_id } })) as unknown as {
    invoices: readonly { number: string; credit_notes: readonly string[] }[];
  };
  const [invoice] = invoices;
  await ask(contract.paymentsCsv, { token, params: { user_id } });
  await ask(contract.receipt, { token, params: { user_id, number: invoice?.number ?? "" } });
  await ask(contract.creditNote, { token, params: { user_id, number: invoice?.credit_notes[0] ?? "" } });
}

async function lastCalls(
  ask: Ask,
  product: TestApp,
  { id: user_id, token }: TestUser,
  { change: rented, sale }: Required<Omit<Rented, "env">>,
) {
  // Paid, and nobody delivers: it can be cancelled.
  const change = { ...rented, subdomain: "second-lab" };
  const order = await product.must("POST", "/docker/payments/create_order", token, orderBody(user_id, change, sale));
  const { razorpay_payment_id } = await product.pay(order);
  await settlePayment(product.payments, await product.payments.provider.payment(razorpay_payment_id));
  const pending = product.db.selectFrom("environments").select("id").where("subdomain", "=", change.subdomain);
  await ask(contract.cancelLaunch, { token, params: await pending.executeTakeFirstOrThrow() });
  await queueCalls(ask, product);
  await ask(contract.exportAccount, { token, params: { user_id } });
  await ask(contract.logout, { token });
}

/** Another user's environment has its GPUs until the reconciler ends it: eight are not free. */
async function queueCalls(ask: Ask, { signUp }: TestApp) {
  const { token } = await signUp("Cara");
  await ask(contract.joinQueue, { token, body: { gpu_count: 8 } });
  await ask(contract.readQueue, { token });
  await ask(contract.leaveQueue, { token });
}
