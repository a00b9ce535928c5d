import type { ContainerRequest } from "@berth/contract";
import { expect, test } from "vitest";
import { containerRequest, orderBody, type TestApp, testApp } from "../testing/test-app.ts";

type Answer = Awaited<ReturnType<TestApp["call"]>>;
type Change = (body: ReturnType<typeof orderBody>) => unknown;

/** The one shape of a refusal (G64), with this status and code. */
function expectRefusal(answer: Answer, [status, code]: readonly [number, string], what: string): void {
  const body = answer.json();
  expect([answer.statusCode, body.status, body.code], `${what}: ${answer.body}`).toEqual([status, "error", code]);
  expect(body.message, what).toEqual(expect.stringMatching(/\S/));
  expect(body.detail, what).toBe(body.message);
}

const invalid = [400, "invalid_request"] as const;
const price = [409, "price_changed"] as const;
const forbidden = [403, "forbidden"] as const;

/** The same change in both copies of the container request. */
const both =
  (change: Readonly<Record<string, unknown>>): Change =>
  (body) => {
    const container_request = { ...body.container_request, ...change };
    return { container_request, payment_request: { ...body.payment_request, container_request } };
  };
const outer =
  (change: Readonly<Record<string, unknown>>): Change =>
  (body) => ({ ...body, container_request: { ...body.container_request, ...change } });
const inner =
  (change: Readonly<Record<string, unknown>>): Change =>
  ({ container_request, payment_request }) => ({
    container_request,
    payment_request: { ...payment_request, container_request: { ...container_request, ...change } },
  });
const paid =
  (change: Readonly<Record<string, unknown>>): Change =>
  ({ container_request, payment_request }) => ({
    container_request,
    payment_request: { ...payment_request, ...change },
  });
const brackets = (depth: number, inside: string) => `${"[".repeat(depth)}${inside}${"]".repeat(depth)}`;
/** A number or word that JSON.stringify would not write. */
const raw =
  (field: string, text: string): Change =>
  (body) =>
    JSON.stringify(paid({ [field]: "RAW" })(body)).replace('"RAW"', text);

/** What only the server says of a run (docs/internals/runtime.md). */
const ofOnesOwn = [
  { image: "evil/image" },
  { mounts: [{ Type: "bind", Source: "/", Target: "/host" }] },
  { binds: ["/var/run/docker.sock:/var/run/docker.sock"] },
  { devices: ["/dev/nvidia0"] },
  { gpus: ["all"] },
  { env: { NVIDIA_VISIBLE_DEVICES: "all" } },
  { command: ["sh"] },
  { privileged: true },
];

const orders: readonly (readonly [what: string, change: Change, refusal: readonly [number, string]])[] = [
  ...[0.01, 0, -1, -0.4, 0.401, 0.4000001, 0.39, 40, 1e300, Number.MAX_SAFE_INTEGER].map(
    (amount) => [`amount ${amount}`, paid({ amount }), price] as const,
  ),
  ["amount 5e-324", paid({ amount: 5e-324 }), price],
  ["amount as text", paid({ amount: "0.4" }), invalid],
  ["amount 1e309", raw("amount", "1e309"), invalid],
  ["amount NaN", raw("amount", "NaN"), invalid],
  ["no amount", paid({ amount: undefined }), invalid],
  ["amount null", paid({ amount: null }), invalid],
  ["the other currency's amount", paid({ amount: 35 }), price],
  ...[3, 0, 5, 16, 8.0001, -1, 1e9, "2", null, [2], true].map(
    (gpu_count) => [`${JSON.stringify(gpu_count)} GPUs`, both({ gpu_count }), invalid] as const,
  ),
  ...[2, 0, -1, 168.5, 721, 1e9, "1", null].map(
    (duration) => [`${JSON.stringify(duration)} hours`, both({ duration }), invalid] as const,
  ),
  ...["EUR", "usd", "", "USD ", null, 1].map(
    (currency) => [`currency ${currency}`, paid({ currency }), invalid] as const,
  ),
  ...["conda", "", "Jupyter", null, "constructor"].map(
    (container_type) => [`type ${container_type}`, both({ container_type }), invalid] as const,
  ),
  ...ofOnesOwn.map((field) => [`${JSON.stringify(field)} of one's own`, both(field), invalid] as const),
  ["an image of one's own inside", inner({ image: "evil/image" }), invalid],
  ["foreign user_id outside", outer({ user_id: "somebody" }), forbidden],
  ["foreign user_id inside", inner({ user_id: "somebody" }), forbidden],
  ["foreign user_id of the payment", paid({ user_id: "somebody" }), forbidden],
  [
    "foreign user_id everywhere",
    (body) => orderBody("somebody", { subdomain: body.container_request.subdomain }),
    forbidden,
  ],
  ["user_id as a list", outer({ user_id: [] }), invalid],
  ["another name inside", inner({ subdomain: "another-lab" }), invalid],
  ["fewer GPUs inside", inner({ gpu_count: 1 }), invalid],
  ["more hours outside", outer({ duration: 720 }), invalid],
  ["another type inside", inner({ container_type: "pytorch" }), invalid],
  ["no inner request", inner({ user_id: undefined, subdomain: undefined }), invalid],
  ...[
    ...["", " ", "ab", "a".repeat(41), "a".repeat(65), "Lab", "MY-LAB", "my.lab", "my_lab", "-lab", "lab-", "xn--lab"],
    ...[
      "läb",
      "🚀🚀🚀",
      "lab\u0000",
      "\u0000",
      "lab\n",
      " lab",
      "../lab",
      "..",
      "a/b",
      "lab%00",
      "lab\ud800",
      "ｌａｂ",
    ],
    ...["www", "admin", "api", "localhost", "identity"],
  ].map((subdomain) => [`name ${JSON.stringify(subdomain)}`, both({ subdomain }), invalid] as const),
  ["a name as a number", both({ subdomain: 123 }), invalid],
  ["a list of orders", (body) => [body], invalid],
  ["nothing", () => "", invalid],
  ["null", () => "null", invalid],
  ["broken JSON", () => '{"container_request":', invalid],
  ["half a body", (body) => JSON.stringify(body).slice(0, -2), invalid],
  ["text behind the body", (body) => `${JSON.stringify(body)}}`, invalid],
  ["a prototype", (body) => JSON.stringify(body).replace("{", '{"__proto__":{"admin":true},'), invalid],
  [
    "a constructor's prototype",
    (body) => JSON.stringify(body).replace("{", '{"constructor":{"prototype":{}},'),
    invalid,
  ],
  ["10 MB", (body) => ({ ...body, more: "x".repeat(10_000_000) }), [413, "too_large"]],
  ["30,000 brackets", () => `{"container_request":${brackets(3e4, "")}}`, invalid],
  ["a NUL in 30,000 brackets", () => `{"container_request":${brackets(3e4, '"\\u0000"')}}`, invalid],
];

test("create_order: an invalid request is a clear 4xx, and nothing is written or held", async () => {
  const { signUp, call, rows, order, errors } = await testApp();
  const user = await signUp();
  const before = await rows();
  for (const [what, change, refusal] of orders) {
    const body = change(orderBody(user.id));
    expectRefusal(await call("POST", "/docker/payments/create_order", user.token, body), refusal, what);
  }
  expect(await rows()).toEqual(before);
  expect(errors).toEqual([]);
  expect((await order(user)).amount, "the right body is sold").toBe(40);
});

test("create_order refuses a taken name, more GPUs than exist and more than the quota", async () => {
  const product = await testApp({ GPUS_PER_USER: "4" });
  const { signUp, call, rows, order } = product;
  const [owner, other] = [await signUp(), await signUp()];
  await order(owner, { gpu_count: 4 });
  await order(await signUp(), { gpu_count: 2, subdomain: "third-lab" });
  const before = await rows();
  const refused = async (change: Partial<ContainerRequest>, refusal: readonly [number, string]) =>
    expectRefusal(
      await call("POST", "/docker/payments/create_order", other.token, orderBody(other.id, change)),
      refusal,
      JSON.stringify(change),
    );
  await refused({}, [409, "subdomain_taken"]);
  await refused({ subdomain: "other-lab", gpu_count: 4 }, [409, "out_of_stock"]);
  await refused({ subdomain: "other-lab", gpu_count: 6 }, [409, "too_many_gpus"]);
  expect(await rows()).toEqual(before);
});

test("create: a forged, swapped or foreign proof delivers nothing and loses nothing", async () => {
  const product = await testApp();
  const { signUp, call, rows, order, pay, must, deliver } = product;
  const [user, other] = [await signUp(), await signUp()];
  const proof = await pay(await order(user));
  const others = await pay(await order(other, { subdomain: "other-lab" }));
  const signature: string = proof.razorpay_signature;
  const mismatch = [400, "signature_mismatch"] as const;
  const changed = [409, "request_changed"] as const;
  const container = (change: object) => ({ container_request: { ...containerRequest(user.id), ...change } });
  const payment = (change: object) => ({ payment_data: { ...proof, ...change } });
  const cases: readonly (readonly [what: string, change: object, refusal: readonly [number, string]])[] = [
    ["forged", payment({ razorpay_signature: "0".repeat(64) }), mismatch],
    ["of another order", payment({ razorpay_signature: others.razorpay_signature }), mismatch],
    ["upper case", payment({ razorpay_signature: signature.toUpperCase() }), mismatch],
    ["truncated", payment({ razorpay_signature: signature.slice(0, -1) }), mismatch],
    ["longer", payment({ razorpay_signature: `${signature}0` }), mismatch],
    ["empty", payment({ razorpay_signature: "" }), mismatch],
    ["64 wide characters", payment({ razorpay_signature: "é".repeat(64) }), mismatch],
    ["a lone surrogate", payment({ razorpay_signature: `\ud800${signature.slice(1)}` }), mismatch],
    ["NUL", payment({ razorpay_signature: `${signature.slice(1)}\u0000` }), invalid],
    ["a list", payment({ razorpay_signature: [signature] }), invalid],
    ["much too long", payment({ razorpay_signature: signature.repeat(5) }), invalid],
    ["the payment of another", payment({ razorpay_payment_id: others.razorpay_payment_id }), mismatch],
    [
      "another's payment and signature",
      { payment_data: { ...others, razorpay_order_id: proof.razorpay_order_id } },
      mismatch,
    ],
    ["another's whole proof", { payment_data: others }, [404, "not_found"]],
    ["an unknown order", payment({ razorpay_order_id: "order_AAAAAAAAAAAAAA" }), [404, "not_found"]],
    ["a path for an order", payment({ razorpay_order_id: "../orders" }), invalid],
    ["a path for a payment", payment({ razorpay_payment_id: "pay_1/capture" }), invalid],
    ["more GPUs than ordered", container({ gpu_count: 8 }), changed],
    ["more hours than ordered", container({ duration: 720 }), changed],
    ["another name", container({ subdomain: "another-lab" }), changed],
    ["another's name", container({ subdomain: "other-lab" }), changed],
    ["a malformed name", container({ subdomain: "../lab" }), changed],
    ["another type", container({ container_type: "pytorch" }), changed],
    ["3 GPUs, which nobody sells", container({ gpu_count: 3 }), changed],
    ["another user", container({ user_id: other.id }), forbidden],
    ["no proof", { payment_data: undefined }, invalid],
  ];
  const before = await rows();
  for (const [what, change, refusal] of cases) {
    const body = { ...container({}), ...payment({}), ...change };
    expectRefusal(await call("POST", "/docker/environment/create", user.token, body), refusal, what);
  }
  expect(await rows()).toEqual(before);
  deliver();
  const good = { ...container({}), ...payment({}) };
  const delivered = await must("POST", "/docker/environment/create", user.token, good);
  expect(delivered.status, "the payment is still good").toBe("active");
});

test("clear, actions, terminate: malformed ids, unknown actions and wrong bodies change nothing", async () => {
  const product = await testApp();
  const { signUp, rent, call, rows, deliver } = product;
  const stop = deliver();
  const user = await signUp();
  const { environment_id: id } = await rent(user);
  await stop();
  const before = await rows();
  const absent = [404, "not_found"] as const;
  const cases: [url: string, body: unknown, refusal: readonly [number, string]][] = [
    [`/docker/explode_container/${id}/${user.id}`, {}, absent],
    [`/docker/STOP_container/${id}/${user.id}`, {}, absent],
    [`/docker/stop%00_container/${id}/${user.id}`, {}, absent],
    [`/docker/_container/${id}/${user.id}`, {}, absent],
    [`/docker/stop_container/${id}/${user.id}`, "[]", invalid],
    [`/docker/stop_container/${id}/${user.id}`, '{"a', invalid],
    [`/environments/${id}/terminate`, {}, invalid],
    [`/environments/${id}/terminate`, { confirm: "another-lab" }, invalid],
    [`/environments/${id}/terminate`, { confirm: "FIRST-LAB" }, invalid],
    [`/environments/${id}/terminate`, { confirm: "first-lab\u0000" }, invalid],
    [`/environments/${id}/terminate`, { confirm: ["first-lab"] }, invalid],
    [`/environments/${id}/terminate`, { confirm: "x".repeat(65) }, invalid],
    [`/environments/${id}/cancel`, {}, [409, "action_not_allowed"]],
  ];
  const ids = [
    "%00",
    "%01",
    "..%2f..%2fetc",
    "%2e%2e",
    "'--",
    "🚀",
    "a".repeat(25),
    id.toUpperCase(),
    `${id}%0a`,
    "%F0%9F%98%80",
  ];
  for (const each of ids) {
    const bad = each.startsWith("%") || each === "'--" ? each : encodeURI(each);
    cases.push([`/docker/payments/clear/${bad}`, {}, absent]);
    cases.push([`/docker/stop_container/${bad}/${user.id}`, {}, absent]);
    cases.push([`/environments/${bad}/terminate`, { confirm: "first-lab" }, absent]);
    cases.push([`/environments/${bad}/cancel`, {}, absent]);
    cases.push([`/environments/${bad}/sign-in-code`, {}, absent]);
  }
  for (const bad of ["%ff", "%ed%a0%80", "%", "%zz"]) {
    cases.push([`/docker/payments/clear/${bad}`, {}, invalid]);
    cases.push([`/docker/stop_container/${bad}/${user.id}`, {}, invalid]);
  }
  for (const [url, body, refusal] of cases) expectRefusal(await call("POST", url, user.token, body), refusal, url);
  expect(await rows()).toEqual(before);
});

test("receipts: a number is absent or malformed, and never used as a path", async () => {
  const { signUp, call, errors } = await testApp();
  const user = await signUp();
  for (const bad of ["%00", "..%2f..%2fetc%2fpasswd", "'--", "INV-", "*", "%F0%9F%98%80", "1e309", "INV-%25"])
    expectRefusal(await call("GET", `/billing/${user.id}/receipts/${bad}.pdf`, user.token), [404, "not_found"], bad);
  for (const bad of ["%ff", "%", "%zz", "x".repeat(5000)])
    expectRefusal(await call("GET", `/billing/${user.id}/receipts/${bad}.pdf`, user.token), invalid, bad);
  expect(errors).toEqual([]);
});

test("an unsatisfiable range or condition: a file is refused, a page is sent whole", async () => {
  const { app } = await testApp();
  const headers: readonly Record<string, string>[] = [{ range: "bytes=99999-" }, { "if-match": '"x"' }];
  for (const each of headers) {
    expectRefusal(await app.inject({ url: "/favicon.svg", headers: each }), invalid, JSON.stringify(each));
    expect((await app.inject({ url: "/", headers: each })).statusCode).toBe(200);
  }
});
