import { type Quote, quote } from "@berth/contract";
import { Link } from "react-router";
import { environmentHost } from "../api/page-settings.ts";
import { exampleOrder } from "../content/example-order.ts";
import { money } from "../format.ts";
import { LaunchTimeline } from "../ui/display/launch-timeline.tsx";
import { Slots } from "../ui/display/slots.tsx";
import { Status } from "../ui/display/status.tsx";
import classes from "./hero-picture.module.css";

const usd = quote(exampleOrder.gpus, exampleOrder.hours, "USD");
const inr = quote(exampleOrder.gpus, exampleOrder.hours, "INR");
const hour = quote(exampleOrder.gpus, 1, "USD");
const written = ({ amountMinor, currency }: Quote) => money(amountMinor, currency);

export function HeroPicture() {
  return (
    <figure className={classes.picture}>
      <div
        className={classes.frame}
        role="img"
        aria-label={`An order for two RTX 4070 for six hours at ${written(usd)}, its launch timeline ending after ${exampleOrder.elapsedSeconds} seconds, and the JupyterLab notebook that opens.`}
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
          <dd>PyTorch</dd>
        </div>
        <div>
          <dt>GPUs</dt>
          <dd>
            <Slots filled={exampleOrder.gpus} /> {exampleOrder.gpus} × RTX 4070
          </dd>
        </div>
        <div>
          <dt>Duration</dt>
          <dd>{exampleOrder.hours} hours</dd>
        </div>
        <div>
          <dt>Address</dt>
          <dd className="mono">{exampleOrder.subdomain}</dd>
        </div>
        <div>
          <dt>Rate</dt>
          <dd>{written(hour)} per hour</dd>
        </div>
      </dl>
      <p className={classes.total}>
        <strong>{written(usd)}</strong>
        <span>{written(inr)}</span>
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
