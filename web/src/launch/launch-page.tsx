import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef } from "react";
import { useConfig } from "../api/product-config.ts";
import { capacityQuery, profileQuery } from "../api/queries.ts";
import { type Session, useSession } from "../api/session.ts";
import { useQueue } from "../environments/queue/use-queue.ts";
import { withReservation } from "./draft/choices.ts";
import type { Step } from "./draft/draft.ts";
import { priceLines } from "./draft/price-lines.ts";
import { useDraft } from "./draft/use-draft.ts";
import { DraftOffer } from "./draft-offer.tsx";
import { LaunchFoot } from "./launch-foot.tsx";
import classes from "./launch-page.module.css";
import { OrderPanel } from "./order-panel.tsx";
import { isPaid } from "./purchase/launch-state.ts";
import { sumLabel } from "./purchase/money-text.ts";
import { useLaunch } from "./purchase/use-launch.ts";
import { StepLaunch } from "./steps/step-launch.tsx";
import { StepList } from "./steps/step-list.tsx";
import { StepResources } from "./steps/step-resources.tsx";
import { StepReview } from "./steps/step-review.tsx";
import { StepSkeleton } from "./steps/step-skeleton.tsx";
import { StepType } from "./steps/step-type.tsx";
import { useContinue } from "./use-continue.ts";

const labels = ["Environment", "Resources", "Review", "Launch"] as const;

/** Spec 2.9, Create Environment. The guard has seen to the session. */
export function LaunchPage() {
  const session = useSession();
  return session === undefined ? null : <Creator session={session} />;
}

function Creator({ session }: { readonly session: Session }) {
  const { userId, email } = session;
  const inHand = useDraft();
  const { draft, change } = inHand;
  const launch = useLaunch();
  const config = useConfig();
  const line = useQueue(userId);
  const { data: known, isPending: asking } = useQuery(capacityQuery);
  const capacity = withReservation(known, line.place);
  const person = useQuery(profileQuery(userId)).data?.profile;
  // From Launch on there is only step 4, wherever the browser's Back leads.
  const step = launch.state.phase === "idle" ? inHand.step : 4;
  const start = () => {
    if (!config) return;
    const prefill = { name: person?.name ?? "", email, contact: person?.phone ?? "" };
    launch.start({ draft, userId, prefill, scriptUrl: config.payments.scriptUrl });
  };
  const onward = useContinue({ ...inHand, step, config, capacity, start });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void onward.go();
  };
  const section = useStepFocus(step);
  const lines = priceLines(draft);
  const paid = isPaid(launch.state);
  const money = launch.state.phase === "failed" ? launch.state.failure.money : undefined;
  return (
    <form className={classes.page} onSubmit={submit} noValidate>
      <StepList
        labels={labels}
        current={launch.state.phase === "ready" ? 5 : step}
        onBack={inHand.goTo}
        locked={paid}
      />
      {inHand.left && step === 1 && <DraftOffer left={inHand.left} onResume={inHand.resume} onDrop={inHand.drop} />}
      <div className={classes.columns} data-step={step}>
        <section ref={section} className={classes.step} tabIndex={-1} aria-label={`Step ${step}: ${labels[step - 1]}`}>
          {asking && step <= 2 && <StepSkeleton />}
          {!asking && step === 1 && <StepType draft={draft} onChange={change} capacity={capacity} />}
          {!asking && step === 2 && (
            <StepResources draft={draft} onChange={change} capacity={capacity} config={config} line={line} />
          )}
          {step === 3 && (
            <StepReview
              draft={draft}
              onChange={onward.changed(change)}
              config={config}
              capacity={capacity}
              error={onward.error}
            />
          )}
          {step === 4 && (
            <StepLaunch
              userId={userId}
              draft={draft}
              launch={launch}
              config={config}
              capacity={capacity}
              goTo={inHand.goTo}
            />
          )}
        </section>
        <OrderPanel
          draft={draft}
          lines={lines}
          config={config}
          capacity={capacity}
          sumLabel={paid ? sumLabel(money) : "Total"}
        />
      </div>
      {!paid && (
        <LaunchFoot
          step={step}
          lines={lines}
          blocked={onward.blocked}
          busy={launch.state.phase !== "idle"}
          onBack={() => inHand.goTo((step - 1) as Step)}
        />
      )}
    </form>
  );
}

/** A new step begins at its top, also for those who hear the page. */
function useStepFocus(step: Step) {
  const section = useRef<HTMLElement>(null);
  const shown = useRef(step);
  useEffect(() => {
    if (shown.current === step) return;
    shown.current = step;
    section.current?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, [step]);
  return section;
}
