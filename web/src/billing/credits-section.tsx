import { type Credit, hoursOfCredit, plural } from "@berth/contract";
import { useQuery } from "@tanstack/react-query";
import { creditsQuery } from "../api/queries.ts";
import { useUnit } from "../api/use-unit.ts";
import type { UnitWords } from "../content/unit-words.ts";
import { date, hoursText } from "../format.ts";
import { Notice } from "../ui/display/notice.tsx";
import classes from "./billing-page.module.css";
import { VoucherForm } from "./voucher-form.tsx";

const sources: Readonly<Record<Credit["source"], string>> = {
  undelivered: "For a launch that was not delivered",
  operator: "From us",
  voucher: "From a voucher",
  returned: "Came back with a refund",
};

/** Open credits, and the form for a voucher (G153, G155). */
export function CreditsSection({ userId }: { readonly userId: string }) {
  const { data, isError } = useQuery(creditsQuery(userId));
  return (
    <section className={classes.credits} aria-labelledby="credits-title">
      <h2 id="credits-title" className="section-title">
        Credits
      </h2>
      <p className={classes.caption}>
        Hours that you do not pay for. Your next environment gets all of them by itself, on top of the hours that you
        buy.
      </p>
      {isError && <Notice tone="fail" title="Your credits could not be read. None of them is lost." />}
      {data !== undefined && data.length > 0 && <OpenCredits credits={data} />}
      <VoucherForm userId={userId} />
    </section>
  );
}

function OpenCredits({ credits }: { readonly credits: readonly Credit[] }) {
  const unit = useUnit();
  return (
    <ul>
      {credits.map(({ id, gpu_hours, source, note, alone, granted_at }) => (
        <li key={id}>
          <span>{creditText(gpu_hours, unit)}</span>
          <small>
            {sources[source]}, {date(granted_at)}
            {note !== "" && `: ${note}`}
            {alone === true && ". Starts an environment without a payment"}
          </small>
        </li>
      ))}
    </ul>
  );
}

/** "20h with 1 GPU, 10h with 2". */
function creditText(gpuHours: number, unit: UnitWords): string {
  return `${hoursText(hoursOfCredit(gpuHours, 1))} with ${plural(1, unit.one)}, ${hoursText(hoursOfCredit(gpuHours, 2))} with 2`;
}
