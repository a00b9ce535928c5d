import type { LatestEvent, Overview } from "@berth/contract/console/overview";
import { Link } from "react-router";
import { dateTime, money, seconds } from "../../format.ts";
import { actWords } from "../audit/act-words.ts";
import { endedTexts } from "../environments/environment-state.tsx";
import classes from "./now-page.module.css";

/** The newest acts and events, each with the page about it. */
export function Latest({ latest }: Pick<Overview, "latest">) {
  return (
    <section aria-labelledby="latest-title">
      <h2 id="latest-title" className={classes.title}>
        What happened last
      </h2>
      {latest.length === 0 && <p className={classes.nothing}>Nothing yet.</p>}
      <ol className={classes.latest}>
        {latest.map((event) => {
          const { title, note, to } = lineOf(event);
          return (
            <li key={`${event.at} ${event.kind} ${event.what} ${event.id}`}>
              <time dateTime={event.at}>{dateTime(event.at)}</time>
              <p>
                <Link className="link target" to={to}>
                  {title}
                </Link>
                {note && <span>{note}</span>}
              </p>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

interface Line {
  readonly title: string;
  readonly note: string;
  readonly to: string;
}

const ends: Readonly<Record<string, string>> = endedTexts;
const moneyWords: Readonly<Record<string, string>> = {
  capture: "paid",
  refund_arrived: "refunded",
  external_refund: "refunded in the provider's dashboard",
  dispute_lost: "lost in a dispute",
};

export function lineOf({ kind, what, name, id, detail, amount }: LatestEvent): Line {
  const of = encodeURIComponent(id);
  if (kind === "act") {
    const who = detail.replace(/^operator:/, "");
    return {
      title: actWords(what) ?? what,
      note: who === name ? who : `${name}, by ${who}`,
      to: `/audit?subject=${of}`,
    };
  }
  if (kind === "money")
    return { title: `${money(amount, detail)} ${moneyWords[what] ?? what}`, note: "", to: `/orders/${of}` };
  const to = `/environments/${of}`;
  if (kind === "ready") return { title: `${name} is ready`, note: `after ${seconds(amount)}`, to };
  return {
    title: `${name} has ended`,
    note: ends[what] ?? "",
    to,
  };
}
