import { environmentHost, pageSettings } from "../api/page-settings.ts";
import { catalogue, prices } from "../catalogue.ts";
import { environmentTypes, isMonthlySold } from "../content/environment-types.ts";
import { gpuSentence } from "../content/gpu-words.ts";
import { capitalised, numberWord } from "../content/number-word.ts";
import { listed } from "../format.ts";
import { Slots } from "../ui/display/slots.tsx";
import classes from "./landing.module.css";

interface Row {
  readonly label: string;
  readonly value: string;
  readonly slots?: boolean;
}

const gpuCounts = prices().rows.map(({ gpus }) => gpus);
const { length } = environmentTypes;
const ready = `${capitalised(numberWord(length))} environment${length === 1 ? "" : "s"},`;

function sheetOf(address: string): Row[] {
  return [
    { label: "GPU", value: `NVIDIA ${gpuSentence(catalogue.gpus)}, dedicated to you while you hold it` },
    { label: "Scale", value: `${listed(gpuCounts, "disjunction")} GPUs in one environment`, slots: true },
    {
      label: "Address",
      value: `A subdomain you choose, such as ${address}. You are signed in already; there is no token to hunt for`,
    },
    {
      label: "Storage",
      value: `Persistent between sessions, and kept ${pageSettings.retentionDays} days after the last one`,
    },
    { label: "Sessions", value: "Up to 168 hours without a break" },
    {
      label: "Billing",
      value: `Prepaid by the hour${isMonthlySold() ? " or month" : ""}. No credit card needed to sign up`,
    },
  ];
}

export function InTheBox() {
  const sheet = sheetOf(environmentHost("resnet-lab"));
  return (
    <section className={classes.section} aria-labelledby="box-title">
      <div className={classes.split}>
        <div>
          <h2 id="box-title">What is in the box</h2>
          <p className={classes.intro}>
            {ready} ready to import. Install anything else with pip; it is still there next time.
          </p>
          <ul className={classes.types}>
            {environmentTypes.map((type) => (
              <li key={type.value}>
                <strong>{type.name}</strong>
                <span className="mono">{type.packages.join("  ")}</span>
              </li>
            ))}
          </ul>
        </div>
        <dl className={classes.sheet}>
          {sheet.map(({ label, value, slots }) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>
                {value}
                {slots && (
                  <span className={classes.slotRow}>
                    {gpuCounts.map((count) => (
                      <Slots key={count} filled={count} />
                    ))}
                  </span>
                )}
              </dd>
            </div>
          ))}
        </dl>
      </div>
    </section>
  );
}
