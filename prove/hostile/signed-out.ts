import { must, until } from "../../testing/customer.ts";
import { ask, upgrade } from "../notebook.ts";
import { type Attack, end, operate, type Rental, rent, type Target } from "./attack.ts";

/** Attacks by what was open before a sign-in or an account ended. */
export const signedOut: readonly Attack[] = [
  {
    name: "39 streams, logs and sockets that outlive a sign-out or a suspension",
    async run(target) {
      const { url, dataDir } = target.product;
      const successes: string[] = [];
      const endings = {
        "a sign-out": ({ customer: { idToken: token } }: Rental) =>
          must(url, "POST", "/auth/logout", { token, body: {} }),
        "a suspension": ({ customer: { email } }: Rental) =>
          operate(dataDir, ["users", "suspend", email, "--reason", "Scans", "--now"]),
      };
      let tries = 0;
      for (const [name, ending] of Object.entries(endings)) {
        const rental = await rent(target);
        const open = await openAll(target, rental, name === "a suspension");
        await ending(rental);
        for (const [what, isOver] of Object.entries(open)) {
          tries++;
          await until(`${what} to end`, async () => isOver()).catch(() => successes.push(`${what} outlives ${name}`));
        }
        const { status } = await fetch(`${url}/events`, { headers: bearer(rental) });
        if (status !== 401) successes.push(`a new stream after ${name} answers ${status}`);
        tries++;
        if (name === "a sign-out") await end(target, rental);
      }
      return { tries, successes };
    },
  },
];

const bearer = ({ customer }: Rental) => ({ authorization: `Bearer ${customer.idToken}` });

/** Whether each has ended. The token of scripts is the environment's, which a sign-out leaves. */
async function openAll({ product: { url } }: Target, rental: Rental, withScripts: boolean) {
  const streams = { "the event stream": "/events", "the log": `/environments/${rental.id}/logs` };
  const open: Record<string, () => boolean> = {};
  for (const [what, path] of Object.entries(streams)) {
    const { status, body } = await fetch(`${url}${path}`, { headers: bearer(rental) });
    if (status !== 200 || !body) throw new Error(`${what} answered ${status}`);
    let over = false;
    const read = async () => {
      for await (const _ of body) if (over) return;
    };
    void read().then(
      () => (over = true),
      () => (over = true),
    );
    open[what] = () => over;
  }
  if (withScripts) {
    const socket = await upgrade(rental.address, "/api/events/subscribe");
    if (typeof socket === "number") throw new Error(`the socket answered ${socket}`);
    let over = false;
    socket.resume().on("close", () => (over = true));
    open["a script's socket"] = () => over;
    if ((await ask(rental.address, "/api")).status !== 200) throw new Error("the notebook does not answer");
  }
  return open;
}
