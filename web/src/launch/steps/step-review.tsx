import { type Capacity, durationLabel, type ProductConfig } from "@berth/contract";
import { bonusPrint } from "../../content/bonus-print.ts";
import { methodList } from "../../content/environment-types.ts";
import { money } from "../../format.ts";
import { PlainSegments } from "../../ui/controls/plain-segments.tsx";
import { unitsOf } from "../draft/choices.ts";
import { comingPrice } from "../draft/coming-price.ts";
import type { Draft } from "../draft/draft.ts";
import { minimumOptions, type PriceLines } from "../draft/price-lines.ts";
import { linesOf, useCovered } from "../draft/use-covered.ts";
import { BelowMinimum } from "./below-minimum.tsx";
import { CreditLine } from "./credit-line.tsx";
import classes from "./step-review.module.css";
import { SubdomainField } from "./subdomain-field.tsx";

interface Props {
  readonly draft: Draft;
  readonly onChange: (part: Partial<Draft>) => void;
  readonly config: ProductConfig | undefined;
  readonly capacity: Capacity | undefined;
  readonly userId: string;
  /** The name's error from Continue or Launch. */
  readonly error: string | undefined;
}

export function StepReview(props: Props) {
  const { draft, onChange, config, userId, error } = props;
  const payments = config?.payments;
  const covered = useCovered(userId, draft);
  const choices = payments && covered === 0 && minimumOptions(draft, payments.minimumMinor, payments.currencies);
  return (
    <>
      <h2>Name it, check it, pay once</h2>
      <SubdomainField
        subdomain={draft.subdomain}
        template={config?.environmentUrl}
        error={error}
        onChange={(subdomain) => onChange({ subdomain })}
      />
      <Cost {...props} lines={linesOf(draft, covered)} isCovered={covered > 0} />
      {choices && payments && (
        <BelowMinimum
          options={choices}
          minimum={money(payments.minimumMinor[draft.currency] ?? 0, draft.currency)}
          onChange={onChange}
        />
      )}
      {covered === 0 && (
        <p className={classes.promise}>
          Delivered later than ten minutes after you paid? Two hours are added. Not delivered? The full amount goes back
          to the card or account that paid by itself, and your next environment gets 2 bonus hours. {bonusPrint}
        </p>
      )}
      <CreditLine userId={userId} gpus={draft.gpus} hours={draft.hours} />
    </>
  );
}

interface CostProps extends Props {
  readonly lines: PriceLines;
  readonly isCovered: boolean;
}

function Cost({ draft, onChange, config, capacity, lines: { totals }, isCovered }: CostProps) {
  const coming = comingPrice(draft);
  return (
    <>
      <div className={classes.cost}>
        <div>
          <h3>Cost</h3>
          <p>
            {isCovered
              ? "Your code covers it."
              : `One payment by ${methodList(draft.currency)}. The rate is frozen with the order.`}
          </p>
        </div>
        <PlainSegments
          label="Currency"
          name="currency"
          value={draft.currency}
          options={totals.map(({ currency }) => currency)}
          onChange={(currency) => onChange({ currency })}
        />
      </div>
      <table className={classes.sum}>
        <tbody>
          <tr>
            <th scope="row">
              {unitsOf(draft.gpus, capacity, config)}, {durationLabel(draft.hours)}
            </th>
            {totals.map(({ currency, text }) => (
              <td key={currency}>{text}</td>
            ))}
          </tr>
          <tr>
            <th scope="row">Storage, stopped time</th>
            {totals.map(({ currency }) => (
              <td key={currency}>{money(0, currency)}</td>
            ))}
          </tr>
          <tr data-total>
            <th scope="row">Total</th>
            {totals.map(({ currency, text }) => (
              <td key={currency} data-chosen={draft.currency === currency || undefined}>
                {text}
              </td>
            ))}
          </tr>
        </tbody>
      </table>
      {coming && <p className={classes.promise}>{coming}</p>}
    </>
  );
}
