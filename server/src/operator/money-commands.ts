import { type Config, ConfigError } from "../config/config.ts";
import { liftAccountHold } from "../payments/disputes/lift-account-hold.ts";
import { embeddedProviderPath, readAccount } from "../payments/embedded-provider/embedded-provider.ts";
import { formatAmount } from "../payments/ledger/format-amount.ts";
import { declineRefund, grantRefund, previewRefund } from "../payments/refunds/grant-refund.ts";
import { operatorCommand } from "../text/operator-command.ts";
import { describeRefund, readRefundRequests, refundRequestText } from "./orders/refund-requests.ts";
import { type Command, type Options, usage } from "./parse-command.ts";
import { printJson } from "./print-rows.ts";
import { announcerOf, appUrlOf, authorOf, withDatabase } from "./with-database.ts";

/** Refunds, accounts that lost a dispute, and the keys of the embedded provider. */
export const moneyCommands: readonly Command[] = [
  {
    name: "refunds",
    args: [],
    options: { json: "" },
    about: "lists who asked for a refund, with what was paid and used",
    example: "refunds --json",
    run: (config, _, options) => refunds(config, options),
  },
  {
    name: "refund",
    args: ["ORDER", "full | prorated | MINOR_UNITS", "[WORDS...]"],
    options: { yes: "", again: "", reason: "TEXT" },
    about: "refunds an order, requested or not; the customer reads the words; without --yes it only shows the result",
    example: "refund q4j0yd2k6v8m1n3p5r7t9w0xz prorated Sorry for the outage. --yes",
    run: (config, args, options) => refund(config, args, options),
  },
  {
    name: "decline",
    args: ["ORDER", "WORDS..."],
    options: { reason: "TEXT" },
    about: "declines a request; the customer reads the words",
    example: "decline q4j0yd2k6v8m1n3p5r7t9w0xz It ran all the time.",
    run: (config, args, options) => decline(config, options, ...args),
  },
  {
    name: "unflag",
    args: ["USER"],
    options: { reason: "TEXT" },
    about: "lifts the hold of an account that lost a dispute",
    example: "unflag a1b2c3d4e5f6g7h8j9k0m1n2p --reason 'Paid by transfer'",
    run: (config, args, options) => unflag(config, options, ...args),
  },
  {
    name: "gateway-keys",
    args: [],
    options: { json: "" },
    about: "prints address and keys of the embedded payment provider",
    example: "gateway-keys",
    run: (config, _, options) => gatewayKeys(config, options),
  },
];

/** For API clients, such as the provider's SDK pointed at the embedded provider. */
async function gatewayKeys(config: Config, { json }: Options): Promise<void> {
  if (config.payments.kind !== "embedded")
    throw new ConfigError("This installation has keys of its provider: RAZORPAY_KEY_ID, RAZORPAY_KEY_SECRET");
  const { keyId, keySecret, webhookSecret } = await withDatabase(config, readAccount);
  const address = `${appUrlOf(config)}${embeddedProviderPath}`;
  if (json !== undefined) return printJson({ address, keyId, keySecret, webhookSecret });
  console.log(`${address}\nkey id ${keyId}\nkey secret ${keySecret}\nwebhook secret ${webhookSecret}`);
}

async function unflag(config: Config, options: Options, userId = ""): Promise<void> {
  const lifted = await withDatabase(config, (db) => liftAccountHold(db, userId, authorOf(options)));
  if (lifted > 0) return console.log(`${userId} may order again`);
  console.error(`No account ${userId} was stopped for a lost dispute; doctor names those that are.`);
  process.exitCode = 1;
}

async function refunds(config: Config, { json }: Options): Promise<void> {
  const rows = await withDatabase(config, readRefundRequests);
  if (json !== undefined) return printJson(rows);
  console.log(rows.length > 0 ? rows.map(refundRequestText).join("\n") : "Nobody has asked for a refund");
}

/** Previews the refund without --yes; the running server sends the money. */
async function refund(config: Config, given: readonly string[], options: Options): Promise<void> {
  const [orderId = "", share = "", ...text] = given;
  if (!/^(full|prorated|\d{1,12})$/.test(share)) return usage(`${share} is neither full, prorated nor an amount.`);
  const asked = share === "full" || share === "prorated" ? share : Number(share);
  const again = options["again"] !== undefined;
  const message = text.join(" ").trim();
  const author = authorOf({ reason: message, ...options });
  const decision = { announce: announcerOf(config), author, orderId, message, again };
  const lines = await withDatabase(config, async (db) => {
    const { isNew, amountMinor, currency } = await previewRefund({ db, ...decision }, asked, async (tx, granted) => {
      if (granted.isNew) console.log((await describeRefund(tx, orderId, granted)).join("\n"));
      return granted;
    });
    const amount = formatAmount(amountMinor, currency);
    if (!isNew) return `${amount} of ${orderId} was granted before and goes back. Another refund of it: add --again`;
    if (options["yes"] === undefined)
      return `Nothing is done yet. To do it: ${operatorCommand(typedAgain(given, options))} --yes`;
    const done = await grantRefund({ db, ...decision }, asked);
    return `${formatAmount(done.amountMinor, currency)} of ${orderId} goes back`;
  });
  console.log(lines);
}

/** The command as it was typed, for a shell. */
function typedAgain(given: readonly string[], { again, reason }: Options): string {
  const more = [...(again === undefined ? [] : ["--again"]), ...(reason === undefined ? [] : ["--reason", reason])];
  return ["refund", ...given, ...more].map(quoted).join(" ");
}

function quoted(word: string): string {
  return /^[\w.,:@/+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

async function decline(config: Config, options: Options, orderId = "", ...text: string[]): Promise<void> {
  const message = text.join(" ").trim();
  if (!orderId || !message) return usage();
  const author = authorOf({ reason: message, ...options });
  const decision = { announce: announcerOf(config), author, orderId, message };
  const isNew = await withDatabase(config, (db) => declineRefund({ db, ...decision }));
  console.log(`The request of ${orderId} ${isNew ? "is" : "was"} declined`);
}
