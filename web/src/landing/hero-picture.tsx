import { plural, quote } from "@berth/contract";
import { Link } from "react-router";
import { environmentHost } from "../api/page-settings.ts";
import { catalogue, prices } from "../catalogue.ts";
import { typeName } from "../content/environment-types.ts";
import { exampleOrder } from "../content/example-order.ts";
import { gpuNames } from "../content/gpu-words.ts";
import { numberWord } from "../content/number-word.ts";
import { money } from "../format.ts";
import { LaunchTimeline } from "../ui/display/launch-timeline.tsx";
import { Slots } from "../ui/display/slots.tsx";
import { Status } from "../ui/display/status.tsx";
import classes from "./hero-picture.module.css";

const sold = prices();
const [usd = "", ...others] = sold.currencies.map(({ code }) => {
  const { amountMinor } = quote(sold, exampleOrder.gpus, exampleOrder.hours, code);
  return money(amountMinor, code);
});
const hour = money(quote(sold, exampleOrder.gpus, 1, "USD").amountMinor, "USD");
const shown = catalogue.types.find(({ id }) => id === "pytorch")?.id ?? catalogue.types[0]?.id ?? "";
const model = gpuNames(catalogue.gpus.slice(0, 1));

export function HeroPicture() {
  return (
    <figure className={classes.picture}>
      <div
        className={classes.frame}
        role="img"
        aria-label={`An order for ${numberWord(exampleOrder.gpus)} ${model} for ${numberWord(exampleOrder.hours)} hour${exampleOrder.hours === 1 ? "" : "s"} at ${usd}, its launch timeline ending after ${exampleOrder.elapsedSeconds} seconds, and the JupyterLab notebook that opens.`}
      >
        <Order />
        <div className={classes.launch}>
          <p className="eyebrow">Launch</p>
          <LaunchTimeline stages={exampleOrder.stages} elapsed={exampleOrder.elapsedSeconds} />
        </div>
        <Notebook />
      </div>
      <figcaption>
        Example order. Launch times are measured on every launch and <Link to="/status">published</Link>.
      </figcaption>
    </figure>
  );
}

function Order() {
  return (
    <div className={classes.order}>
      <p className="eyebrow">Order</p>
      <dl>
        <div>
          <dt>Environment</dt>
          <dd>{typeName(shown)}</dd>
        </div>
        <div>
          <dt>GPUs</dt>
          <dd>
            <Slots filled={exampleOrder.gpus} /> {exampleOrder.gpus} × {model}
          </dd>
        </div>
        <div>
          <dt>Duration</dt>
          <dd>{plural(exampleOrder.hours, "hour")}</dd>
        </div>
        <div>
          <dt>Address</dt>
          <dd className="mono">{exampleOrder.subdomain}</dd>
        </div>
        <div>
          <dt>Rate</dt>
          <dd>{hour} per hour</dd>
        </div>
      </dl>
      <p className={classes.total}>
        <strong>{usd}</strong>
        <span>{others.join(", ")}</span>
      </p>
      <p className={classes.once}>Paid once. Nothing renews by itself.</p>
    </div>
  );
}

function Notebook() {
  const host = environmentHost(exampleOrder.subdomain);
  return (
    <div className={classes.notebook}>
      <div className={classes.address}>
        <span className="mono">{host}</span>
        <Status value="active" />
      </div>
      <div className={classes.cells}>
        {exampleOrder.cells.map(({ prompt, code, output }) => (
          <div key={prompt} className={classes.cell}>
            <span>[{prompt}]</span>
            <pre className={classes.code}>{code}</pre>
            <pre className={classes.output}>{output}</pre>
          </div>
        ))}
        <div className={classes.cell}>
          <span>[ ]</span>
          <pre className={classes.code} data-current>
            <i className={classes.caret} />
          </pre>
        </div>
      </div>
    </div>
  );
}
