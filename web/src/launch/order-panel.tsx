import { type Capacity, durationLabel, type ProductConfig } from "@berth/contract";
import { useUnit } from "../api/use-unit.ts";
import { typeName } from "../content/environment-types.ts";
import { capitalised } from "../content/number-word.ts";
import { hostName } from "../format.ts";
import { Facts } from "../ui/display/facts.tsx";
import { NamedSlots } from "../ui/display/slots.tsx";
import { Total } from "../ui/display/total.tsx";
import { unitsOf } from "./draft/choices.ts";
import type { Draft } from "./draft/draft.ts";
import type { PriceLines } from "./draft/price-lines.ts";
import classes from "./order-panel.module.css";

interface Props {
  readonly draft: Draft;
  readonly lines: PriceLines;
  readonly config: ProductConfig | undefined;
  readonly capacity: Capacity | undefined;
  /** The label of the sum: Total, Paid, Refund started. */
  readonly sumLabel: string;
}

export function OrderPanel({ draft, lines, config, capacity, sumLabel }: Props) {
  const name = draft.subdomain.trim();
  const facts = [
    { label: "Environment", value: typeName(draft.type) },
    {
      label: capitalised(useUnit().all),
      value: <NamedSlots filled={draft.gpus}>{unitsOf(draft.gpus, capacity, config)}</NamedSlots>,
    },
    { label: "Duration", value: durationLabel(draft.hours) },
    { label: "Rate", value: lines.rate },
    {
      label: "Address",
      value:
        name === "" || !config ? (
          <span className="faint">In step 3</span>
        ) : (
          <span className="mono">{hostName(config.environmentUrl, name)}</span>
        ),
    },
  ];
  return (
    <aside className={`panel ${classes.summary}`} aria-label="Order">
      <h2 className="section-title">Order</h2>
      <Facts facts={facts} />
      <Total label={sumLabel} amount={lines.charged} notes={[lines.other]} />
      <p className={classes.once}>
        Pay once for the hours you choose. Nothing renews by itself. The clock starts when JupyterLab answers.
      </p>
    </aside>
  );
}
