import { type Customer, must } from "../../testing/customer.ts";
import type { Product } from "../../testing/product.ts";

/** The link in the newest mail to this customer, from the outbox page. */
export async function linkTo(
  product: Product,
  { email: to }: Pick<Customer, "email">,
  path = "reset-password",
): Promise<string> {
  const answer = await fetch(product.operatorPage("/outbox"), { headers: { accept: "application/json" } });
  const mails: { to: string; subject: string; text: string }[] = await answer.json();
  const text = mails.find((mail) => mail.to === to)?.text ?? "";
  return new RegExp(`^http\\S+/${path}\\?oobCode=\\S+$`, "m").exec(text)?.[0] ?? "";
}

/** Requests a reset mail and returns its link. */
export async function mailedLink(product: Product, customer: Customer): Promise<string> {
  await must(product.url, "POST", "/auth/reset-password", { body: { email: customer.email } });
  return linkTo(product, customer);
}
