import type { Capacity, Currency, ProductConfig } from "@berth/contract";
import { durations } from "../../content/environment-types.ts";
import { money } from "../../format.ts";
import { PlainSegments } from "../../ui/controls/plain-segments.tsx";
import { unitsOf } from "../draft/choices.ts";
import type { Draft } from "../draft/draft.ts";
import { minimumOptions, priceLines } from "../draft/price-lines.ts";
import { BelowMinimum } from "./below-minimum.tsx";
import classes from "./step-review.module.css";
import { SubdomainField } from "./subdomain-field.tsx";

interface Props {
  readonly draft: Draft;
  readonly onChange: (part: Partial<Draft>) => void;
  readonly config: ProductConfig | undefined;
  readonly capacity: Capacity | undefined;
  /** The name's error from Continue or Launch. */
  readonly error: string | undefined;
}

export function StepReview(props: Props) {
  const { draft, onChange, config, error } = props;
  const payments = config?.payments;
  const choices = payments && minimumOptions(draft, payments.minimumMinor, payments.currencies);
  return (
    <>
      <h2>Name it, check it, pay once</h2>
      <SubdomainField
        subdomain={draft.subdomain}
        template={config?.environmentUrl}
        error={error}
        onChange={(subdomain) => onChange({ subdomain })}
      />
      <Cost {...props} />
      {choices && payments && (
        <BelowMinimum
          options={choices}
          minimum={money(payments.minimumMinor[draft.currency], draft.currency)}
          onChange={onChange}
        />
      )}
      <p className={classes.promise}>
        Later than ten minutes after you paid? Two hours are added. Not delivered? The full amount goes back to your
        card by itself, and your next environment gets 2 bonus hours.
      </p>
    </>
  );
}

function Cost({ draft, onChange, config, capacity }: Props) {
  const { usd, inr } = priceLines(draft);
  const hours = durations.find(({ hours: known }) => known === draft.hours)?.label;
  return (
    <>
      <div className={classes.cost}>
        <div>
          <h3>Cost</h3>
          <p>One payment by card. The rate is frozen with the order.</p>
        </div>
        <PlainSegments
          label="Currency"
          name="currency"
          value={draft.currency}
          options={[...(config?.payments.currencies ?? ["USD", "INR"])]}
          onChange={(currency) => onChange({ currency: currency as Currency })}
        />
      </div>
      <table className={classes.sum}>
        <tbody>
          <tr>
            <th scope="row">
              {unitsOf(draft.gpus, capacity, config)}, {hours}
            </th>
            <td>{usd}</td>
            <td>{inr}</td>
          </tr>
          <tr>
            <th scope="row">Storage, stopped time</th>
            <td>{money(0, "USD")}</td>
            <td>{money(0, "INR")}</td>
          </tr>
          <tr data-total>
            <th scope="row">Total</th>
            <td data-chosen={draft.currency === "USD" || undefined}>{usd}</td>
            <td data-chosen={draft.currency === "INR" || undefined}>{inr}</td>
          </tr>
        </tbody>
      </table>
    </>
  );
}
