import { useQuery } from "@tanstack/react-query";
import { useConfig } from "../api/product-config.ts";
import { capacityQuery } from "../api/queries.ts";
import { catalogue } from "../catalogue.ts";
import { trainingRows } from "../content/training-rows.ts";
import classes from "./train-panel.module.css";

export function TrainPanel() {
  const gpus = useConfig()?.gpus;
  const cpu = useQuery(capacityQuery).data?.kind === "cpu";
  const leastGb = Math.min(...(gpus ?? catalogue.gpus).map(({ memoryGb }) => memoryGb));
  return (
    <section aria-labelledby="train-title">
      <h2 id="train-title" className="section-title">
        What can be trained
      </h2>
      <dl className={classes.rows}>
        {trainingRows(leastGb).map(({ gpus, text }) => (
          <div key={gpus}>
            <dt>{gpus}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      {cpu && <p className={classes.note}>These need GPUs. This installation runs on CPUs.</p>}
      {(cpu ? [] : (gpus ?? [])).map(({ model, memoryGb }) => (
        <p key={`${model} ${memoryGb}`} className={classes.note}>
          Each {model} has {memoryGb}GB VRAM.
        </p>
      ))}
    </section>
  );
}
