import { useConfig } from "../api/product-config.ts";
import { training } from "../content/training.ts";
import classes from "./train-panel.module.css";

export function TrainPanel() {
  const gpu = useConfig()?.gpu;
  return (
    <section aria-labelledby="train-title">
      <h2 id="train-title" className="section-title">
        What can be trained
      </h2>
      <dl className={classes.rows}>
        {training.rows.map(({ gpus, text }) => (
          <div key={gpus}>
            <dt>{gpus}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      {gpu && (
        <p className={classes.note}>
          Each {gpu.model} has {gpu.memoryGb}GB VRAM.
        </p>
      )}
    </section>
  );
}
