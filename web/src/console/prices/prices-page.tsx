import { type OperatedCatalogue, readCatalogue, type SoldType } from "@berth/contract/console/catalogue";
import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { listed } from "../../format.ts";
import { CopyText } from "../../ui/controls/copy-text.tsx";
import { Facts } from "../../ui/display/facts.tsx";
import { ActDialog, type ActRequest } from "../frame/act-dialog.tsx";
import { callConsole } from "../frame/call-console.ts";
import list from "../frame/list.module.css";
import { NotRead } from "../frame/not-read.tsx";
import { Announced } from "./announced.tsx";
import { dayText } from "./day-text.ts";
import { PriceVersion } from "./price-version.tsx";
import classes from "./prices-page.module.css";
import { TypeTable } from "./type-table.tsx";

/** What is sold and for how much; a file changes it, not this screen, which only prepares a type. */
export function PricesPage() {
  const [request, setRequest] = useState<ActRequest>();
  const { data, error, refetch } = useQuery({
    queryKey: ["catalogue"],
    queryFn: ({ signal }) => callConsole(readCatalogue, { params: {}, body: {} }, signal),
    refetchInterval: ({ state }) => (state.data?.types.some(isOnItsWay) ? 2_000 : false),
  });
  return (
    <div className={list.page}>
      {error && <NotRead what="The catalogue" error={error} onAgain={refetch} />}
      {!data && !error && <Skeleton height={420} radius="lg" role="status" aria-label="Reading the catalogue" />}
      {data && <Loaded catalogue={data} onAct={setRequest} />}
      <ActDialog request={request} onClose={() => setRequest(undefined)} />
    </div>
  );
}

const isOnItsWay = ({ images }: SoldType) => images.some(({ state }) => state === "preparing");

interface LoadedProps {
  readonly catalogue: OperatedCatalogue;
  readonly onAct: (request: ActRequest) => void;
}

function Loaded({ catalogue, onAct }: LoadedProps) {
  const { prices, types, terms, announced } = catalogue;
  const current = prices.filter(({ state }) => state !== "past");
  return (
    <>
      {current.map((version) => (
        <PriceVersion key={version.from} version={version} />
      ))}
      <TypeTable types={types} onAct={onAct} />
      <section aria-label="Terms">
        <h2 className={list.title}>Terms</h2>
        {terms.length === 0 ? (
          <p className={list.hint}>No change of the terms is announced.</p>
        ) : (
          <Facts wide facts={terms.map(({ from, summary }) => ({ label: `From ${dayText(from)}`, value: summary }))} />
        )}
      </section>
      {announced.length > 0 && <Announced announced={announced} />}
      <section aria-label="Limits and GPUs">
        <h2 className={list.title}>Limits and GPUs</h2>
        <Facts wide facts={limitFacts(catalogue)} />
      </section>
      <Source catalogue={catalogue} />
    </>
  );
}

function limitFacts({ limits, gpus }: OperatedCatalogue) {
  return [
    { label: "GPUs of one account", value: limits.gpus ?? "As GPUS_PER_USER says" },
    { label: "Launches of one account", value: limits.launches ?? "As LAUNCHES_PER_USER says" },
    {
      label: "GPUs that pages name",
      value: listed(
        gpus.map(({ model, memory_gb }) => `${model}, ${memory_gb} GB`),
        "conjunction",
      ),
    },
  ];
}

function Source({ catalogue: { file, commands } }: { readonly catalogue: OperatedCatalogue }) {
  return (
    <section aria-label="To change it">
      <h2 className={list.title}>To change it</h2>
      <p className={classes.text}>
        {file === null
          ? "The built-in catalogue is in force. Write it to a file, change that, check it, and start the server with it."
          : `${file} is in force. Change it, check it, and start the server again: it keeps what it was started with.`}
      </p>
      <ul className={classes.commands}>
        {commands.map((command) => (
          <li key={command}>
            <CopyText value={command} label="command" />
          </li>
        ))}
      </ul>
    </section>
  );
}
