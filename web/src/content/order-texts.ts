import {
  type EndedReason,
  type MoneyPlace,
  type OrderState,
  type PaymentFailure,
  payingAccount,
  type RefundReason,
  type RefundRequest,
} from "@berth/contract";

/** The texts of an order's page (G85). `sum` is formatted money. */
export const orderStateTexts: Readonly<Record<OrderState, string>> = {
  awaiting_payment: "Not paid yet",
  payment_closed: "Closed unpaid",
  expired: "Not paid in time",
  starting: "Starting",
  delivered: "Delivered",
  ended: "Ended",
  cancelled: "Cancelled",
  not_delivered: "Not delivered",
  too_late: "Paid too late",
  wrong_amount: "Wrong amount",
  refunded: "Paid back",
};

export const failureTexts: Readonly<Record<PaymentFailure, string>> = {
  insufficient_funds: "There was not enough balance.",
  declined: "Your bank declined it.",
  not_authenticated: "Your bank could not confirm that it was you.",
  wrong_details: "The details of the payment were not right.",
  cancelled: "It was cancelled on the bank's page or in its app.",
  timed_out: "The payment was not confirmed in time.",
  technical: "The bank or the payment provider had a fault.",
  other: "The payment provider did not accept it.",
};

export const refundTexts: Readonly<Record<RefundReason, string>> = {
  not_delivered: "the environment was not delivered",
  silent: "its container ran, but JupyterLab did not answer",
  cancelled: "you cancelled the launch",
  late_payment: "the payment came when the order could no longer be delivered",
  surplus_payment: "the order was paid twice",
  wrong_amount: "it is not the amount of the order",
  hardware: "the machine failed; this is the time you could not use",
  discretionary: "granted by our staff",
  external: "sent back by our staff",
};

export const refundRequestTexts: Readonly<Record<RefundRequest["reason"], string>> = {
  partial_downtime: "It did not run for a part of the time",
  accidental_termination: "I ended it by mistake",
  maintenance: "Maintenance took time from me",
  other: "Something else",
  silent: "JupyterLab never answered",
};

export const endedTexts: Readonly<Record<EndedReason, string>> = {
  expired: "Its paid time was used.",
  terminated: "You ended it.",
  cancelled: "You cancelled it.",
  not_delivered: "It was not ready in time.",
  silent: "JupyterLab did not answer, though its container ran.",
  hardware: "Its machine failed and could not be brought back.",
  operator: "It was ended by our staff.",
};

export interface MoneySums {
  readonly amount: string;
  readonly charged: string;
  readonly refunding: string;
  readonly refunded: string;
  readonly disputed: string;
  /** The provider's method of the payment (G366). */
  readonly method: string | null;
  /** The day by which a sent refund should be back; undefined if none was sent. */
  readonly expectedBy: string | undefined;
  /** Whether that day has passed. */
  readonly isBack: boolean;
  /** Whether no more payments of this order are expected. */
  readonly closed: boolean;
  /** An order of 0, which a code covers (G332). */
  readonly isFree?: boolean;
}

interface Sentence {
  readonly title: string;
  readonly text: string;
}

const banks = "Banks take 4-5 business days.";

export function moneySentence(place: MoneyPlace, sums: MoneySums): Sentence {
  const { amount, charged, refunding, refunded, disputed } = sums;
  const account = payingAccount(sums.method).name;
  switch (place) {
    case "nothing_taken":
      if (sums.isFree) return { title: "Nothing to pay", text: "The hours of your code cover it." };
      return { title: "Nothing was taken", text: sums.closed ? closedText(account) : openText };
    case "being_checked":
      return {
        title: `${amount} is being checked`,
        text: `${waitedFor(sums.method)} Confirmed, it is delivered or goes back to ${account} by itself; else it is never taken.`,
      };
    case "held":
      return {
        title: `${charged} is paid`,
        text: `The environment is starting. If it cannot be delivered, the full amount goes back to ${account} by itself.`,
      };
    case "delivered":
      return { title: `${charged} is paid, and delivered`, text: "Paid once. Nothing renews by itself." };
    case "refund_started":
      return {
        title: `${refunding} is on its way back to ${account}`,
        text: `${banks} There is nothing to ask for: this page follows it.${rest(sums)}`,
      };
    case "refunded":
      return { title: backTitle(refunded, sums), text: backText(sums) };
    case "partly_refunded":
      return {
        title: backTitle(`${refunded} of ${charged}`, sums),
        text: `${backText(sums)} The rest paid for what was delivered.`,
      };
    case "disputed":
      return {
        title: `${disputed} is disputed by your bank`,
        text: "Your bank asks us for it and has not decided. If you know this payment, tell your bank. Refunds of it wait until then.",
      };
    case "taken_back":
      return {
        title: `${disputed} was taken back by your bank`,
        text: "It left us for your bank, and what it paid for has ended. If that is a mistake, tell your bank and write to support.",
      };
    case "needs_person":
      return {
        title: `${refunding} is still owed to you`,
        text: "The refund has not gone through. We try again every day, and a person looks at it. Nothing is lost; support knows more.",
      };
  }
}

const openText =
  "No payment has reached us. If you have paid, it shows here by itself: we keep asking the payment provider.";

function closedText(account: string): string {
  return `No payment has reached us, and the order is closed. One that still arrives is delivered, or goes back to ${account} by itself.`;
}

function waitedFor(method: string | null): string {
  return method === "upi"
    ? "The payment waits for your approval in your UPI app."
    : "Your bank has not confirmed the payment.";
}

function rest({ charged, refunding, refunded }: MoneySums): string {
  return charged === refunding
    ? ""
    : ` ${charged} was paid${/[1-9]/.test(refunded) ? `, ${refunded} went back before` : ""}.`;
}

function backTitle(sum: string, { isBack, method }: MoneySums): string {
  const { name, at } = payingAccount(method);
  return isBack ? `${sum} is back ${at}` : `${sum} went back to ${name}`;
}

function backText({ isBack, expectedBy, method }: MoneySums): string {
  if (isBack) return "If your bank does not show it, the bank reference below finds it there.";
  return `It has left us. ${banks.slice(0, -1)}: expected ${payingAccount(method).at} by ${expectedBy}.`;
}
