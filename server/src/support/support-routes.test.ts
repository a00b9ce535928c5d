import { expect, test } from "vitest";
import { testApp } from "../testing/test-app.ts";

async function setup(env: Record<string, string> = {}) {
  const product = await testApp({ SUPPORT_TELEGRAM: "@mira_berth", ...env });
  const ada = await product.signUp();
  const ticket = { issueType: "container_issues", description: "It hangs.", userEmail: ada.email, userId: ada.id };
  return {
    ...product,
    ada,
    ticket,
    open: (change: object = {}) => product.call("POST", "/support/tickets", ada.token, { ...ticket, ...change }),
    tickets: () => product.db.selectFrom("support_tickets").selectAll().orderBy("created_at").execute(),
  };
}

test("a ticket is stored under the code of the page, and the chat link has it (G59, G81)", async () => {
  const { ada, open, tickets } = await setup();
  const code = `BRT-${ada.id.slice(0, 6)}-4821`;
  const answer = (await open({ supportCode: code, description: "  It hangs.  " })).json();
  expect(answer).toMatchObject({ success: true, ticketId: code });
  const url = new URL(answer.telegramUrl);
  expect(url.origin + url.pathname).toBe("https://t.me/mira_berth");
  expect(url.searchParams.get("text")).toBe(
    `Support code: ${code}\nEmail: ${ada.email}\nTopic: Environment will not start or misbehaves\n\nIt hangs.`,
  );
  expect(await tickets()).toEqual([
    expect.objectContaining({ user_id: ada.id, code, issue_type: "container_issues", description: "It hangs." }),
  ]);
});

test("the account's own address is kept, and a code of somebody else is replaced", async () => {
  const { ada, open, tickets } = await setup({ SUPPORT_CODE_PREFIX: "DOCK" });
  const { ticketId } = (await open({ supportCode: "DOCK-zzzzzz-0000", userEmail: "ceo@bank.example" })).json();
  expect(ticketId).toMatch(new RegExp(`^DOCK-${ada.id.slice(0, 6)}-\\d{4}$`));
  expect(await tickets()).toEqual([expect.objectContaining({ code: ticketId, email: ada.email })]);
});

test.each([
  ["no issue type", { issueType: "" }, 400],
  ["an unknown issue type", { issueType: "weather" }, 400],
  ["no description", { description: "" }, 400],
  ["a blank description", { description: " \n " }, 400],
  ["1001 characters", { description: "x".repeat(1001) }, 400],
  ["another user", { userId: "somebody" }, 403],
])("%s: refused, and nothing is kept", async (_, change, status) => {
  const { open, tickets } = await setup();
  expect((await open(change)).statusCode).toBe(status);
  expect(await tickets()).toEqual([]);
});

test("1000 characters of anything are kept as they were typed", async () => {
  const { open, tickets } = await setup();
  const description = `<script>alert(1)</script> \u202e🚀 ${"é".repeat(1000)}`.slice(0, 1000);
  expect((await open({ description })).statusCode).toBe(200);
  expect((await tickets())[0]?.description).toBe(description.trim());
});

test("twenty tickets an hour, then the chat", async () => {
  const { open, tickets, signUp, call, ticket } = await setup();
  for (let n = 0; n < 20; n++) expect((await open()).statusCode).toBe(200);
  const refused = await open();
  expect([refused.statusCode, refused.headers["retry-after"]]).toEqual([429, "3600"]);
  expect(await tickets()).toHaveLength(20);
  const ben = await signUp();
  const other = await call("POST", "/support/tickets", ben.token, { ...ticket, userId: ben.id });
  expect(other.statusCode).toBe(200);
});

test("the texts of the screen and the chat's address are public", async () => {
  const { must } = await setup({ SUPPORT_TELEGRAM_KIND: "bot", SUPPORT_ONLINE: "false" });
  const { issueTypes, quickTopics } = await must("GET", "/support/catalog");
  expect(issueTypes).toHaveLength(8);
  expect(quickTopics.map(({ label }: { label: string }) => label)).toEqual([
    "Container Won't Start",
    "Payment Issues",
    "Performance Problems",
    "Account Access",
  ]);
  expect((await must("GET", "/config")).support).toEqual({
    telegram: "mira_berth",
    prefill: false,
    codePrefix: "BRT",
    online: false,
    responseTime: "Usually within 1 hour",
  });
});
