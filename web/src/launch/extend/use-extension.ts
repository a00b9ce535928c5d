import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { keys } from "../../api/queries.ts";
import { serverNow } from "../../server-clock.ts";
import { buy, failureOf, type Purchase, prove } from "../purchase/buy.ts";
import { idle, type LaunchState, mayLaunch } from "../purchase/launch-state.ts";

interface Extension {
  readonly state: LaunchState;
  readonly start: (purchase: Purchase) => void;
  /** Returns to idle after a failure. */
  readonly reset: () => void;
}

/** Orders, pays and confirms an extension; then calls `onAdded`. A paid extension continues if the user leaves. */
export function useExtension(onAdded: () => void): Extension {
  const client = useQueryClient();
  const [state, setState] = useState<LaunchState>(idle);
  const left = useRef<AbortController>(undefined);
  useEffect(() => () => left.current?.abort(), []);
  const start = async (purchase: Purchase) => {
    // A ref, because the state is one render late on a double click (C9).
    if (left.current || !mayLaunch(state)) return;
    left.current = new AbortController();
    const proof = await buy(purchase, setState, left.current.signal);
    left.current = undefined;
    if (!proof) return;
    const paidAt = serverNow();
    setState({ phase: "creating", paidAt, cancelling: false });
    try {
      await prove(purchase.draft, purchase.userId, proof);
      setState(idle);
      onAdded();
    } catch (error) {
      setState({ phase: "failed", paidAt, failure: failureOf(error, false, proof) });
    }
    void client.invalidateQueries({ queryKey: keys.profile(purchase.userId) });
  };
  return {
    state,
    start: (purchase) => void start(purchase),
    reset: () => setState((now) => (now.phase === "failed" ? idle : now)),
  };
}
