import { useQuery } from "@tanstack/react-query";
import { capacityQuery } from "../api/queries.ts";
import { mostGpus } from "../catalogue.ts";
import { Slots } from "../ui/display/slots.tsx";
import { Stats } from "../ui/display/stats.tsx";
import type { DashboardFigures } from "./dashboard-figures.ts";

/** Three figures (spec 2.7). */
export function DashboardStats({ figures, runHours }: { figures: DashboardFigures; runHours: number | undefined }) {
  const { active, starting, usageHours, gpus } = figures;
  const cpu = useQuery(capacityQuery).data?.kind === "cpu";
  const slots = gpus > 0 && gpus <= mostGpus() ? <Slots filled={gpus} size="lg" tone="live" /> : undefined;
  return (
    <Stats
      stats={[
        {
          label: "Active Environments",
          value: String(active),
          note: starting > 0 ? `${starting} starting` : undefined,
        },
        {
          label: "Total Usage",
          value: usageHours.toFixed(1),
          unit: "hours",
          note: usageHours > 0 && runHours !== undefined ? `booked, ${runHours.toFixed(1)} run` : undefined,
        },
        { label: "GPU Instances", value: String(gpus), note: cpu ? "CPU only" : slots },
      ]}
    />
  );
}
