import { rmSync } from "node:fs";
import { createOrder, creditNote, orderDetail, pricesAt, productConfig, receipt } from "@berth/contract";
import { oldWordsIn, otherCatalogue } from "@berth/contract/testing/other-catalogue";
import { expect, onTestFinished, test } from "vitest";
import { pdfLines } from "../billing/testing/pdf-lines.ts";
import { writeCatalogue } from "../config/testing/write-catalogue.ts";
import { orderBody, testApp } from "../testing/test-app.ts";
import { callEverything } from "./testing/example-calls.ts";

const change = { container_type: "vision", gpu_count: 2, duration: 3 };
const sale = { prices: pricesAt(otherCatalogue, new Date()), currency: "EUR" };

function setting() {
  const { file, folder } = writeCatalogue(otherCatalogue);
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return { CATALOGUE: file };
}

test("with another catalogue every answer of the API, mail, notice and receipt follows it (G125-G128)", async () => {
  const { called, product } = await callEverything({ env: setting(), change, sale });
  const replyOf = (endpoint: object) => called.find((call) => call.endpoint === endpoint)?.reply;
  for (const { endpoint, reply } of called)
    expect(oldWordsIn(JSON.stringify(reply ?? "")), `${endpoint.method} ${endpoint.path}`).toEqual([]);
  expect(replyOf(productConfig)).toMatchObject({
    gpus: otherCatalogue.gpus,
    payments: { currencies: ["USD", "EUR", "INR"] },
  });
  expect(replyOf(createOrder)).toMatchObject({
    amount: 592,
    currency: "EUR",
    description: "Vision environment, 2 slots, 3 hours",
  });
  const order = { container_type: "vision", list_price: 6.51, amount: 5.92, currency: "EUR", rate: 0.91 };
  expect(replyOf(orderDetail)).toMatchObject({ order });
  const openApi = (await product.app.inject("/openapi.json")).body;
  expect(oldWordsIn(openApi)).toEqual([]);
  expect(openApi).toContain('"enum":["jupyter","vision"]');
  expect(openApi).toContain('"enum":["USD","EUR","INR"]');

  for (const [endpoint, words] of [
    [receipt, ["1 USD = 0.91 EUR, fixed with the order", "€5.92 EUR"]],
    [creditNote, ["€0.01 EUR"]],
  ] as const) {
    const raw = called.find((call) => call.endpoint === endpoint)?.raw ?? Buffer.from("");
    const lines = pdfLines(raw).join("\n");
    for (const word of words) expect(lines).toContain(word);
    expect(oldWordsIn(lines)).toEqual([]);
  }

  const { db } = product;
  const mails = await db.selectFrom("mails").select(["subject", "body_text", "body_html"]).execute();
  const notices = await db.selectFrom("notifications").select(["title", "body"]).execute();
  expect(mails.map(({ subject }) => subject)).toContain("first-lab is ready");
  expect(notices.map(({ body }) => body)).toContainEqual(expect.stringMatching(/^Choose Plain Lab or Vision,/));
  for (const words of [...mails, ...notices]) expect(oldWordsIn(Object.values(words).join("\n"))).toEqual([]);
});

test("an order of what the catalogue does not have is refused with its field (G126)", async () => {
  const { signUp, call, db } = await testApp(setting());
  const { id, token } = await signUp();
  const right = orderBody(id, change, sale);
  for (const wrong of [{ container_type: "tensorflow" }, { gpu_count: 4 }, { duration: 6 }]) {
    const container_request = { ...right.container_request, ...wrong };
    const body = { container_request, payment_request: { ...right.payment_request, container_request } };
    const answer = await call("POST", "/docker/payments/create_order", token, body);
    expect([answer.statusCode, answer.json().code]).toEqual([400, "invalid_request"]);
    expect(answer.json().message).toMatch(new RegExp(`${Object.keys(wrong)[0]}: .* is not offered$`));
  }
  const pounds = { ...right, payment_request: { ...right.payment_request, currency: "GBP" } };
  const answer = await call("POST", "/docker/payments/create_order", token, pounds);
  expect([answer.statusCode, answer.json().message]).toEqual([400, "currency: GBP is not offered"]);
  expect(await db.selectFrom("orders").select("id").execute()).toEqual([]);
});
