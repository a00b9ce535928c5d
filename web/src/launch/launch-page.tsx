import { useQuery } from "@tanstack/react-query";
import { type ComponentProps, type FormEvent, useEffect, useRef } from "react";
import { useConfig } from "../api/product-config.ts";
import { capacityQuery, profileQuery } from "../api/queries.ts";
import { type Session, useSession } from "../api/session.ts";
import { useQueue } from "../environments/queue/use-queue.ts";
import { withReservation } from "./draft/choices.ts";
import type { Step } from "./draft/draft.ts";
import { linesOf, useCovered } from "./draft/use-covered.ts";
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

/** Spec 2.9, Create Environment. The guard has checked the session. */
export function LaunchPage() {
  const session = useSession();
  return session === undefined ? null : <Creator session={session} />;
}

function Creator({ session }: { readonly session: Session }) {
  const { userId, email } = session;
  const { draft, step: draftStep, goTo, left, resume, drop, change } = useDraft();
  const launch = useLaunch(userId);
  const config = useConfig();
  const queue = useQueue(userId);
  const { data, isPending } = useQuery(capacityQuery);
  const capacity = withReservation(data, queue.entry);
  const profile = useQuery(profileQuery(userId)).data?.profile;
  const { phase } = launch.state;
  // Once launched, step 4 stays, even after the browser's Back.
  const step = phase === "idle" ? draftStep : 4;
  const covered = useCovered(userId, draft);
  const start = () => {
    if (!config) return;
    const prefill = { name: profile?.name ?? "", email, contact: profile?.phone ?? "" };
    launch.start({ draft, userId, prefill, scriptUrl: config.payments.scriptUrl, isCovered: covered > 0 });
  };
  const next = useContinue({ draft, change, step, config, capacity, goTo, start, isCovered: covered > 0 });
  const section = useStepFocus(step);
  const order = { draft, lines: linesOf(draft, covered), config, capacity };
  const paid = isPaid(launch.state);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    next.go();
  };
  return (
    <form className={classes.page} onSubmit={submit} noValidate>
      <StepList labels={labels} current={phase === "ready" ? 5 : step} onBack={goTo} locked={paid} />
      {left && step === 1 && <DraftOffer left={left} onResume={resume} onDrop={drop} />}
      <div className={classes.columns} data-step={step}>
        <section ref={section} className={classes.step} tabIndex={-1} aria-label={`Step ${step}: ${labels[step - 1]}`}>
          {isPending && step <= 2 ? (
            <StepSkeleton />
          ) : (
            <CurrentStep
              step={step}
              {...{ ...order, userId, queue, launch, goTo, isCovered: covered > 0 }}
              error={next.error}
              onChange={next.change}
            />
          )}
        </section>
        <OrderPanel {...order} sumLabel={covered > 0 ? "Total" : sumLabel(launch.state)} />
      </div>
      {!paid && (
        <LaunchFoot step={step} lines={order.lines} blocked={next.blocked} busy={phase !== "idle"} goTo={goTo} />
      )}
    </form>
  );
}

type StepProps = ComponentProps<typeof StepType> &
  ComponentProps<typeof StepResources> &
  ComponentProps<typeof StepReview> &
  ComponentProps<typeof StepLaunch>;

function CurrentStep({ step, ...props }: StepProps & { readonly step: Step }) {
  if (step === 1) return <StepType {...props} />;
  if (step === 2) return <StepResources {...props} />;
  return step === 3 ? <StepReview {...props} /> : <StepLaunch {...props} />;
}

/** Focuses a new step at its top, also for screen readers. */
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
