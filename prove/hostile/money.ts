import { sql } from "kysely";
import { pay, send, until } from "../../testing/customer.ts";
import { type Attack, end, moneyOf, type Rental, rent, type Target } from "./attack.ts";
import { clear } from "./customer-calls.ts";

/** Attacks on what an order is paid for late. */
export const money: readonly Attack[] = [
  {
    name: "36 hours for an account on hold, from an order opened before",
    async run(target) {
      const rental = await rent(target);
      const order = await extend(target, rental, 6);
      await hold(target, rental.customer.userId);
      await pay(target.product.url, order.body);
      const bought = await settled(target, rental, 1);
      await end(target, rental);
      return { tries: 1, successes: bought > 0 ? ["6 hours were added to an account on hold"] : [] };
    },
  },
  {
    name: "37 old prices, kept in stock as unpaid orders for more hours",
    async run(target) {
      const rental = await rent(target);
      const kept: { id: string; key_id: string }[] = [];
      for (const hours of [1, 6, 12, 24, 168, 1, 6, 12]) {
        const { status, body } = await extend(target, rental, hours);
        if (status === 200) kept.push(body);
      }
      await clear(target, rental.customer);
      await sql`update orders set closed_at = closed_at - interval '2 hours'
        where user_id = ${rental.customer.userId} and extends is not null`.execute(target.db);
      for (const order of kept) await pay(target.product.url, order);
      const bought = await settled(target, rental, kept.length);
      await end(target, rental);
      return {
        tries: 8,
        successes: [
          ...(kept.length > 5 ? [`${kept.length} unpaid orders for more hours in a day`] : []),
          ...(bought > 0 ? [`${bought} orders bought two hours after their end`] : []),
        ],
      };
    },
  },
];

function extend({ product }: Target, { id, customer }: Rental, duration: number) {
  return send(product.url, "POST", `/environments/${id}/extend`, {
    token: customer.idToken,
    body: { duration, amount: (duration * 20) / 100, currency: "USD" },
  });
}

/** As a dispute holds an account, without its news from the bank. */
async function hold({ db }: Target, userId: string): Promise<void> {
  await sql`
    with dispute as (
      insert into disputes (id, gateway, gateway_dispute_id, payment_id, user_id, status, phase, amount_minor, currency, created_at)
      select id, gateway, id, id, user_id, 'open', 'fraud', amount_minor, currency, now()
      from payments where user_id = ${userId} limit 1
      returning id, user_id)
    insert into account_holds (user_id, dispute_id) select user_id, id from dispute`.execute(db);
}

/** Waits until so many orders for more hours are settled; returns how many of them were bought, not paid back. */
async function settled(target: Target, { customer }: Rental, count: number): Promise<number> {
  const orders = await until("the payments to be settled", async () => {
    const all = (await moneyOf(target, customer.userId)).filter((each) => each.extends);
    return all.length >= count && all;
  });
  return orders.filter(({ amount_minor, refund_minor }) => refund_minor < amount_minor).length;
}
