import { plural } from "@berth/contract";
import type { OperatedEnvironment } from "@berth/contract/console/environments";
import { Link } from "react-router";
import { capitalised } from "../../content/number-word.ts";
import type { UnitWords } from "../../content/unit-words.ts";
import { dateTime, duration, money, sizeText } from "../../format.ts";
import { CopyText } from "../../ui/controls/copy-text.tsx";
import { type Fact, Facts } from "../../ui/display/facts.tsx";
import detail from "../frame/detail.module.css";
import { Owner } from "../frame/owner.tsx";
import { useUnit } from "../frame/use-unit.ts";

/** Who has it, where it runs, and for how long. */
export function EnvironmentFacts({ environment }: { readonly environment: OperatedEnvironment }) {
  const unit = useUnit();
  return (
    <aside className={`panel ${detail.about}`} aria-label="About this environment">
      <Facts
        facts={[
          ...placeFacts(environment, unit),
          ...usageFacts(environment),
          ...timeFacts(environment),
          ...orderFacts(environment),
        ]}
      />
    </aside>
  );
}

function placeFacts(environment: OperatedEnvironment, unit: UnitWords): Fact[] {
  const { id, email, user_id, container_type, gpu_count, host_id, gpus } = environment;
  return [
    { label: "Id", value: <CopyText value={id} label="environment id" shown={`${id.slice(0, 8)}…`} /> },
    { label: "Owner", value: <Owner id={user_id} email={email} /> },
    { label: "Type", value: `${container_type}, ${plural(gpu_count, unit.one)}` },
    { label: "Host", value: host_id },
    { label: capitalised(`${unit.one}s`), value: gpus.length > 0 ? gpus.join(", ") : "None held" },
  ];
}

function usageFacts({ usage }: OperatedEnvironment): Fact[] {
  if (!usage) return [];
  const { at, cpu_cores, memory_mb, gpus } = usage;
  return [
    { label: "Processors", value: `${cpu_cores.toFixed(1)} cores in the minute of ${dateTime(at)}` },
    { label: "Memory", value: sizeText(memory_mb) },
    ...gpus.map((gpu) => ({ label: gpu.id, value: `${Math.round(gpu.use_percent)} %, ${sizeText(gpu.memory_mb)}` })),
  ];
}

function timeFacts({ requested_at, created_at, expires_at, banked_seconds, ...end }: OperatedEnvironment): Fact[] {
  const left =
    expires_at === null ? `${duration(banked_seconds)} left, clock stopped` : `Until ${dateTime(expires_at)}`;
  return [
    { label: "Paid", value: dateTime(requested_at) },
    { label: "First ready", value: created_at === null ? "Not yet" : dateTime(created_at) },
    end.terminated_at === null
      ? { label: "Time", value: created_at === null ? "Begins when it is ready" : left }
      : { label: "Ended", value: dateTime(end.terminated_at) },
  ];
}

function orderFacts({ orders, unused }: OperatedEnvironment): Fact[] {
  return [
    ...orders.map(({ id, duration_hours }, index) => ({
      label: index === 0 ? "Order" : "More time",
      value: (
        <Link className="link target" to={`/orders/${id}`}>
          {plural(duration_hours, "hour")}
        </Link>
      ),
    })),
    ...(unused.length > 0 ? [{ label: "Unused, in money", value: unusedText(unused) }] : []),
  ];
}

/** "$2.40", or of several currencies "$2.40 and ₹212". */
export function unusedText(unused: OperatedEnvironment["unused"]): string {
  return unused.map(({ currency, minor }) => money(minor, currency)).join(" and ");
}
