import { type SampleSpan, sampleSpans } from "@berth/contract";
import { Button, Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { samplesQuery } from "../../api/queries.ts";
import { commonTexts } from "../../content/common-texts.ts";
import { PlainSegments } from "../../ui/controls/plain-segments.tsx";
import { useNow } from "../../ui/display/use-now.ts";
import type { Environment } from "../lifecycle/environment.ts";
import classes from "./environment-metrics.module.css";
import { MetricChart } from "./metric-chart.tsx";
import { metricsOf, spans } from "./metrics-of.ts";

interface Props {
  readonly environment: Environment;
  readonly hasGpu: boolean;
}

/** Resource use, sampled every 15 seconds while it runs; N/A without values (G33). */
export function EnvironmentMetrics({ environment: { id, status }, hasGpu }: Props) {
  const [span, setSpan] = useState<SampleSpan>("1h");
  const active = status === "active";
  return (
    <section aria-labelledby="use-title">
      <div className={classes.head}>
        <div>
          <h2 id="use-title" className="section-title">
            Use
          </h2>
          <p>{active ? "Measured every 15 seconds." : "Nothing is measured while it does not run."}</p>
        </div>
        <PlainSegments
          label="Time shown"
          name="use-span"
          value={spans[span].label}
          options={sampleSpans.map((each) => spans[each].label)}
          onChange={(label) => setSpan(sampleSpans.find((each) => spans[each].label === label) ?? "1h")}
        />
      </div>
      <Metrics id={id} span={span} active={active} hasGpu={hasGpu} />
    </section>
  );
}

interface MeasuresProps {
  readonly id: string;
  readonly span: SampleSpan;
  readonly active: boolean;
  readonly hasGpu: boolean;
}

function Metrics({ id, span, active, hasGpu }: MeasuresProps) {
  const { data, isError, refetch } = useQuery(samplesQuery(id, span, active));
  const now = useNow();
  if (!data && isError)
    return (
      <div className={classes.failed} role="alert">
        The measurements could not be read. The environment is not affected.
        <Button size="xs" variant="default" onClick={() => void refetch()}>
          {commonTexts.tryAgain}
        </Button>
      </div>
    );
  if (!data)
    return (
      <div className={classes.grid} role="status" aria-label="Loading measurements...">
        {[0, 1, 2, 3, 4, 5].map((each) => (
          <div key={each} className={classes.measure}>
            <Skeleton height={14} width={72} my={3} />
            <Skeleton height={20} width={120} my={4} />
            <Skeleton height={56} mt={8} />
          </div>
        ))}
      </div>
    );
  if (!active && data.points.length === 0) return <p className={classes.none}>Nothing was measured in this time.</p>;
  const stepMs = data.step_seconds * 1000;
  return (
    <div className={classes.grid}>
      {metricsOf(data.points, hasGpu).map((measure) => (
        <MetricChart
          key={measure.title}
          measure={measure}
          points={data.points}
          toMs={now}
          spanMs={spans[span].ms}
          stepMs={stepMs}
          tense={active ? "now" : "last"}
        />
      ))}
    </div>
  );
}
