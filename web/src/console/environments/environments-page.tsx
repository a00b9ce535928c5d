import { environmentFilters } from "@berth/contract/console/environments";
import { useSearchParams } from "react-router";
import list from "../frame/list.module.css";
import { MiningSection } from "../mining/mining-section.tsx";
import { EnvironmentList, type View } from "./environment-list.tsx";

/** Environments from outside; what is looked for is in the address. */
export function EnvironmentsPage() {
  const [parameters, setParameters] = useSearchParams();
  const text = parameters.get("find") ?? "";
  const host = parameters.get("host") ?? "";
  const status = environmentFilters.find((each) => each === parameters.get("status")) ?? "living";
  const view = { text, host, status };
  const change = (part: Partial<View>) => {
    const { text: find, ...rest } = { ...view, ...part };
    const given = Object.entries({ find, ...rest }).filter(([, value]) => value !== "" && value !== "living");
    setParameters(Object.fromEntries(given));
  };
  return (
    <div className={list.page}>
      <MiningSection />
      <EnvironmentList view={view} onView={change} />
    </div>
  );
}
