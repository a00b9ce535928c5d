import { cancelLaunch, type environmentDetail, type ReplyOf } from "@berth/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { ApiError } from "../../api/api-error.ts";
import { call } from "../../api/call.ts";
import { keys } from "../../api/queries.ts";
import type { Arrival } from "../../environments/list/ready-card.tsx";
import { serverNow } from "../../server-clock.ts";
import { toast } from "../../ui/toast/toast.ts";
import { dropDraft, keepChoices, keepDraft, tabStorage } from "../draft/draft.ts";
import { buy, type Created, failureOf, launchCovered, type Purchase, prove } from "./buy.ts";
import type { PaymentProof } from "./checkout.ts";
import { type Failure, followed, idle, type LaunchState, mayLaunch } from "./launch-state.ts";

/** How long the page shows that the environment is ready before it redirects (spec 4.4). */
const redirectAfterMs = 2_000;

/** An environment as its owner reads it, for the end of a launch without an answer. */
export type Followed = Pick<ReplyOf<typeof environmentDetail>["environment"], "id" | "status" | "jupyter_token">;

export interface Launch {
  readonly state: LaunchState;
  readonly start: (purchase: Purchase) => void;
  /** Cancels a launch that is still pending and refunds it (G75). */
  readonly cancel: (environmentId: string) => void;
  /** Goes on with the environment itself if the create call brought no answer (G302). */
  readonly follow: (environment: Followed) => void;
  /** Returns to the choices after a failure. */
  readonly reset: () => void;
}

/** Orders, pays, creates and redirects, once. A paid launch continues if the user leaves the page. */
export function useLaunch(userId: string): Launch {
  const [state, setState] = useState<LaunchState>(idle);
  const running = useRef(false);
  const cancelled = useRef(false);
  const visitSignal = useVisitSignal();
  const arrive = useArrive();
  useBack(state.phase === "ready");
  const startCovered = useCoveredStart(setState, arrive);
  const deliver = async ({ draft, userId: owner }: Purchase, proof: PaymentProof, signal: AbortSignal) => {
    const paidAt = serverNow();
    dropDraft(tabStorage);
    keepChoices(tabStorage, draft);
    setState({ phase: "creating", paidAt, cancelling: false });
    try {
      const created = await prove(draft, owner, proof, signal);
      if (created.status !== "pending") setState({ phase: "ready", paidAt, readyAt: serverNow() });
      await arrive({ ...created, subdomain: draft.subdomain.trim() }, owner, signal);
    } catch (error) {
      const failure = failureOf(error, cancelled.current, proof);
      // A draft beside a payment would invite a second one.
      if (failure.money !== "being_checked") keepDraft(tabStorage, { draft, step: 3 });
      setState({ phase: "failed", paidAt, failure });
      if (!failure.cancelled) showFailure(failure);
    }
  };
  const start = async (purchase: Purchase) => {
    // A ref, because the state is one render late on a double click (C9).
    if (running.current || !mayLaunch(state)) return;
    running.current = true;
    cancelled.current = false;
    const signal = visitSignal();
    const proof = purchase.isCovered ? undefined : await buy(purchase, setState, signal);
    if (purchase.isCovered) await startCovered(purchase, signal);
    else if (proof) await deliver(purchase, proof, signal);
    running.current = false;
  };
  const follow = ({ id, status, jupyter_token }: Followed) => {
    const next = followed(state, status, serverNow());
    if (next === state) return;
    setState(next);
    const created = { status: "active", jupyter_token: jupyter_token ?? "", environment_id: id } as const;
    if (next.phase === "ready") void arrive(created, userId, visitSignal());
  };
  const cancel = useCancel((cancelling) => {
    cancelled.current = cancelling;
    setState((now) => (now.phase === "creating" ? { ...now, cancelling } : now));
  });
  return { state, start: (purchase) => void start(purchase), cancel, follow, reset: () => setState(idle) };
}

function useCancel(setCancelling: (cancelling: boolean) => void): (environmentId: string) => void {
  const { mutate } = useMutation({
    mutationFn: (environmentId: string) => call(cancelLaunch, { params: { id: environmentId }, body: {} }),
    onMutate: () => setCancelling(true),
    onError: (error) => {
      setCancelling(false);
      toast.error((error instanceof ApiError && error.message) || "Failed to cancel the launch");
    },
  });
  return (environmentId) => mutate(environmentId);
}

type Arrive = ReturnType<typeof useArrive>;

/** Starts what a code covers: there is no dialog and no proof. */
function useCoveredStart(onState: (state: LaunchState) => void, arrive: Arrive) {
  const client = useQueryClient();
  return async (purchase: Purchase, signal: AbortSignal) => {
    const paidAt = serverNow();
    onState({ phase: "creating", paidAt, cancelling: false, isCovered: true });
    const created = await launchCovered(purchase, onState, signal);
    if (!created) return;
    dropDraft(tabStorage);
    keepChoices(tabStorage, purchase.draft);
    if (created.status === "active") onState({ phase: "ready", paidAt, readyAt: serverNow(), isCovered: true });
    await arrive(created, purchase.userId, signal);
    void client.invalidateQueries({ queryKey: keys.credits(purchase.userId) });
  };
}

/** Back before the next page is drawn comes to this one, which begins again as at any other visit. */
function useBack(isReady: boolean): void {
  useEffect(() => {
    if (!isReady) return;
    const again = () => location.reload();
    addEventListener("popstate", again);
    return () => removeEventListener("popstate", again);
  }, [isReady]);
}

/** Aborted when the user leaves the page, which closes an open dialog. */
function useVisitSignal(): () => AbortSignal {
  const controller = useRef(new AbortController());
  useEffect(() => {
    if (controller.current.signal.aborted) controller.current = new AbortController();
    return () => controller.current.abort();
  }, []);
  return () => controller.current.signal;
}

/** Of a reply that has the token alone, the environment is active (spec 3.8, G303). */
type Arrived = Pick<Created, "jupyter_token"> & Partial<Omit<Created, "jupyter_token">>;

function useArrive(): (created: Arrived, userId: string, signal: AbortSignal) => Promise<void> {
  const client = useQueryClient();
  const navigate = useNavigate();
  return async (created, userId, signal) => {
    void client.invalidateQueries({ queryKey: keys.profile(userId) });
    void client.invalidateQueries({ queryKey: keys.capacity });
    if (created.status !== "pending") await new Promise((resolve) => setTimeout(resolve, redirectAfterMs));
    if (signal.aborted) return;
    if (created.status === "pending") toast.info("Your environment is still starting. Its stages stand in the list.");
    const { jupyter_token, environment_id, subdomain } = created;
    await navigate("/environments", { state: { jupyter_token, environment_id, subdomain } satisfies Arrival });
  };
}

/** The specified "HTTP {status}"; the page shows the state of the money (G14). */
function showFailure({ status, message }: Failure): void {
  const title = "Failed to create environment";
  if (status >= 400) toast.error(`HTTP ${status}`, { title });
  else toast.error((status > 0 && message) || title);
}
