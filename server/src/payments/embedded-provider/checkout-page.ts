import { escapeHtml } from "../../text/escape-html.ts";
import { formatAmount } from "../ledger/format-amount.ts";
import { testCards } from "./cards.ts";
import type { OrderRow } from "./entities.ts";
import { pageShell, type Scheme, testBanner } from "./page-shell.ts";
import { methodNames, type TestAccount, testBanks, testVpas, testWallets } from "./test-methods.ts";

interface Page {
  readonly order: OrderRow;
  readonly keyId: string;
  readonly name: string;
  readonly description: string;
  readonly scheme: Scheme;
  /** The chosen outcome as a sentence. */
  readonly next: string | undefined;
  /** Address of the outcomes page; absent for everybody but the operator. */
  readonly outcomesUrl: string | undefined;
}

const mark = `<svg width="22" height="22" viewBox="0 0 24 24" fill="none" aria-hidden="true"><path d="M4 3v13a5 5 0 0 0 5 5h6a5 5 0 0 0 5-5V3" stroke="currentColor" stroke-width="2.25" stroke-linecap="square"/><rect x="9" y="5" width="6" height="11" rx="1.25" fill="var(--live)"/></svg>`;
const cross = `<svg width="16" height="16" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" aria-hidden="true"><path d="M18 6 6 18M6 6l12 12"/></svg>`;

/** The checkout dialog of the embedded provider; it must not look like a real charge. */
export function checkoutPage({ order, keyId, name, description, scheme, next, outcomesUrl }: Page): string {
  const amount = formatAmount(order.amount_minor, order.currency);
  const cards = testCards.map((card) => card.number).join(" ");
  const vpas = testVpas.map(({ id }) => id).join(" ");
  const isIndian = order.currency === "INR";
  return pageShell({
    scheme,
    title: `Pay ${amount}`,
    script: "checkout-page.js",
    body: `<form class="dialog" aria-label="Checkout" novalidate data-key="${escapeHtml(keyId)}" data-order="${escapeHtml(order.id)}" data-cards="${cards}" data-vpas="${vpas}">
      ${testBanner}
      <div class="head">${mark}<div><h1>${escapeHtml(name)}</h1><p>${escapeHtml(description)}</p></div>
        <button type="button" class="close" aria-label="Cancel payment">${cross}</button></div>
      <p class="amount"><strong>${amount}</strong></p>
      <p class="failed" role="alert" hidden></p>
      ${isIndian ? methodChoice + ofCountry : ""}
      <div class="method" data-method="card"${isIndian ? " hidden" : ""}>${cardFields}</div>
      <button type="submit" class="pay">Pay ${amount}</button>
      ${isIndian ? waiting(amount) : ""}
      <dl>
        <div><dt>Order</dt><dd class="mono">${escapeHtml(order.id)}</dd></div>
        <div class="left" hidden><dt>Reserved for you</dt><dd><time></time></dd></div>
      </dl>
      ${next ? `<p class="next" role="status">${escapeHtml(next)}</p>` : ""}
      ${outcomesUrl ? `<p class="help choose"><a href="${escapeHtml(outcomesUrl)}">Choose what happens next</a></p>` : ""}
    </form>`,
  });
}

const cardFields = `<div class="fields">
        ${field("number", "Card number", 'inputmode="numeric" autocomplete="cc-number" placeholder="5555 5555 5555 4444" maxlength="23"', "wide")}
        ${field("expiry", "Expiry", 'inputmode="numeric" autocomplete="cc-exp" placeholder="MM/YY" maxlength="7"')}
        ${field("cvv", "CVV", 'inputmode="numeric" autocomplete="cc-csc" placeholder="123" maxlength="4"')}
      </div>
      <p class="help">Use <span class="mono">5555 5555 5555 4444</span> with any CVV and any future expiry.</p>`;

/** In rupees UPI comes first, as in Razorpay's dialog (G365). */
const methodChoice = `<fieldset class="methods"><legend>Pay by</legend>${Object.entries(methodNames)
  .map(([id, name]) => {
    const checked = id === "upi" ? " checked" : "";
    return `<label><input type="radio" name="method" value="${id}"${checked}><span>${name}</span></label>`;
  })
  .join("")}</fieldset>`;

const vpaHelp = testVpas.map(({ id, label }) => `<li><span class="mono">${id}</span> ${label}</li>`).join("");
const ofCountry = `<div class="method" data-method="upi"><div class="fields">
        ${field("vpa", "UPI ID", 'inputmode="email" autocomplete="off" autocapitalize="none" spellcheck="false" placeholder="success@razorpay" maxlength="64"', "wide")}
      </div><div class="help">Only these work here:<ul>${vpaHelp}</ul></div></div>
      <div class="method" data-method="netbanking" hidden><div class="fields">${select("bank", "Bank", testBanks)}</div></div>
      <div class="method" data-method="wallet" hidden><div class="fields">${select("wallet", "Wallet", testWallets)}</div></div>`;

/** What a payment waits for that its buyer approves elsewhere. */
function waiting(amount: string): string {
  return `<div class="waiting" role="status" hidden><h2>Approve it in your UPI app</h2>
        <p>We asked the app for ${amount}, and wait for its answer. The request is open for five minutes.</p>
        <p>You may close this. Once it is approved, the payment counts; if nobody approves it, nothing is charged.</p></div>`;
}

/** The dialog for an unknown order; it can still be closed. */
export function unknownOrderPage(scheme: Scheme): string {
  return pageShell({
    scheme,
    title: "Unknown order",
    script: "checkout-page.js",
    body: `<form class="dialog" aria-label="Checkout" novalidate>
      ${testBanner}
      <div class="head">${mark}<div><h1>Unknown order</h1><p>There is nothing to pay here.</p></div>
        <button type="button" class="close" aria-label="Cancel payment">${cross}</button></div>
    </form>`,
  });
}

function field(name: string, label: string, attributes: string, className = ""): string {
  return `<div class="field ${className}"><label for="${name}">${label}</label>
          <input id="${name}" name="${name}" ${attributes} aria-describedby="${name}-error">
          <p class="error" id="${name}-error"></p></div>`;
}

function select(name: string, label: string, accounts: readonly TestAccount[]): string {
  const options = accounts.map((account) => `<option value="${account.id}">${account.label}</option>`).join("");
  return `<div class="field wide"><label for="${name}">${label}</label><select id="${name}" name="${name}">${options}</select></div>`;
}
