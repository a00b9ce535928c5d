import type { Capacity } from "@berth/contract";
import { useEffect, useState } from "react";
import { fetchResponse } from "../api/send.ts";
import { typeName } from "../content/environment-types.ts";
import { listed } from "../format.ts";
import classes from "./landing.module.css";

/** What this page promises and this installation does not have (G307); nothing where it has all. At the foot of the window, last in the page, so that nothing seen moves. */
export function HereNotice() {
  const [text, setText] = useState("");
  useEffect(() => {
    const left = new AbortController();
    void readCapacity(left.signal)
      .then((capacity) => setText(missingHere(capacity)))
      // The page goes on without it; the first step says the same.
      .catch(() => undefined);
    return () => left.abort();
  }, []);
  return text === "" ? null : (
    <p className={classes.here} role="note">
      {text}
    </p>
  );
}

async function readCapacity(signal: AbortSignal): Promise<Pick<Capacity, "kind" | "types">> {
  const response = await fetchResponse("/capacity", { headers: { accept: "application/json" }, signal });
  return await response.json();
}

export function missingHere({ kind, types }: Pick<Capacity, "kind" | "types">): string {
  const cpu = kind === "cpu" ? ["This installation runs on CPUs: you rent slots of a CPU, without a GPU."] : [];
  const missing = types.filter(({ state }) => state === "unavailable").map(({ type }) => typeName(type));
  const verb = missing.length === 1 ? "is" : "are";
  const notOffered = missing.length === 0 ? [] : [`${listed(missing, "conjunction")} ${verb} not offered here yet.`];
  return [...cpu, ...notOffered].join(" ");
}
