import { durationLabel, type ProductConfig } from "@berth/contract";
import { Button, VisuallyHidden } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useEffect, useState } from "react";
import { useSearchParams } from "react-router";
import { useConfig } from "../../api/product-config.ts";
import { profileQuery } from "../../api/queries.ts";
import { useSession } from "../../api/session.ts";
import { prices } from "../../catalogue.ts";
import type { Environment } from "../../environments/lifecycle/environment.ts";
import { dateTime, duration, money } from "../../format.ts";
import { PlainSegments } from "../../ui/controls/plain-segments.tsx";
import { Dialog } from "../../ui/dialogs/dialog.tsx";
import { Facts } from "../../ui/display/facts.tsx";
import { Notice } from "../../ui/display/notice.tsx";
import { toast } from "../../ui/toast/toast.ts";
import { comingPrice } from "../draft/coming-price.ts";
import { type Draft, linkedExtension } from "../draft/draft.ts";
import { minimumOptions, priceLines } from "../draft/price-lines.ts";
import { ChangeButton } from "../purchase/change-button.tsx";
import type { LaunchState } from "../purchase/launch-state.ts";
import { SeeOrder } from "../purchase/see-order.tsx";
import { BelowMinimum } from "../steps/below-minimum.tsx";
import { DurationChoice } from "../steps/duration-choice.tsx";
import classes from "./extension-form.module.css";
import { useExtension } from "./use-extension.ts";

interface Props {
  readonly environment: Environment;
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Adds paid hours to an environment without a restart (G100). */
export function ExtensionForm({ environment, opened, onClose }: Props) {
  const config = useConfig();
  const session = useSession();
  const profile = useQuery(profileQuery(session?.userId ?? "")).data?.profile;
  const [params] = useSearchParams();
  const [{ hours, currency }, setChoice] = useState(() => linkedExtension(params));
  const { id, name, type, subdomain, gpu_count: gpus } = environment;
  const draft = { type, subdomain, gpus, hours, currency };
  const change = (part: Partial<Draft>) => setChoice((now) => ({ ...now, ...part }));
  const { state, start, reset } = useExtension(() => {
    toast.success(`${durationLabel(hours)} added to ${name}`);
    onClose();
  });
  const close = () => {
    reset();
    onClose();
  };
  const { charged } = priceLines(draft);
  const payments = config?.payments;
  const options = payments && optionsFor(draft, payments);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!payments || !session || options) return;
    const prefill = { name: profile?.name ?? "", email: session.email, contact: profile?.phone ?? "" };
    start({ draft, userId: session.userId, extends: id, prefill, scriptUrl: payments.scriptUrl });
  };
  const failed = state.phase === "failed";
  const stays = opened || failed;
  useFocusReturn(stays);
  return (
    <Dialog
      // The provider's payment dialog traps the focus, so this one closes meanwhile. A failure stays visible even if its
      // environment has left the list.
      opened={stays && state.phase !== "paying"}
      title={`Add time to ${name}`}
      size={560}
      onClose={close}
    >
      <form noValidate onSubmit={submit}>
        <p className={classes.text}>
          It goes on as it is; nothing is restarted. Paid hours that cannot be added go back to the card or account that
          paid.
        </p>
        <Choices draft={draft} onChange={change} />
        <Facts facts={endsOf(environment, hours)} />
        <ComingPrice draft={draft} />
        {options && payments && (
          <BelowMinimum
            options={options}
            minimum={money(payments.minimumMinor[currency] ?? 0, currency)}
            onChange={change}
          />
        )}
        <Outcome state={state} charged={charged} />
        <div className={classes.buttons}>
          <Button variant="subtle" onClick={close}>
            {failed ? "Close" : "Cancel"}
          </Button>
          {!failed && (
            <Button type="submit" disabled={!payments || options !== undefined} loading={state.phase !== "idle"}>
              Pay {charged}
            </Button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

interface ChoicesProps {
  readonly draft: Draft;
  readonly onChange: (part: Partial<Draft>) => void;
}

function Choices({ draft: { gpus, hours, currency }, onChange }: ChoicesProps) {
  return (
    <>
      <VisuallyHidden id="extend-time">Time to add</VisuallyHidden>
      <DurationChoice
        labelledBy="extend-time"
        gpus={gpus}
        hours={hours}
        onChange={(to) => onChange({ hours: to.hours })}
      />
      <div className={classes.currency}>
        <PlainSegments
          label="Currency"
          name="extend-currency"
          value={currency}
          options={prices().currencies.map(({ code }) => code)}
          onChange={(code) => onChange({ currency: code })}
        />
      </div>
    </>
  );
}

function ComingPrice({ draft }: { readonly draft: Draft }) {
  const text = comingPrice(draft);
  return text === undefined ? null : <p className={classes.text}>{text}</p>;
}

/** Restores the focus, which the payment dialog does not return. */
function useFocusReturn(opened: boolean): void {
  const [opener] = useState(() => document.activeElement);
  useEffect(() => {
    if (!opened && opener instanceof HTMLElement) opener.focus({ preventScroll: true });
  }, [opened, opener]);
}

/** Only the hours and the currency can be chosen here, not the GPUs. */
function optionsFor(draft: Draft, { minimumMinor, currencies }: ProductConfig["payments"]) {
  return minimumOptions(draft, minimumMinor, currencies)?.filter(({ gpus }) => !gpus);
}

function Outcome({ state, charged }: { readonly state: LaunchState; readonly charged: string }) {
  if (state.phase === "idle" && state.problem)
    return <Notice tone="hold" title={state.problem.message} action={<ChangeButton problem={state.problem} />} alert />;
  if (state.phase !== "failed") return null;
  const see = <SeeOrder failure={state.failure} />;
  if (state.failure.money !== "being_checked")
    return <Notice tone="fail" title={state.failure.message || "The hours could not be added"} action={see} alert />;
  return (
    <Notice tone="hold" title="No confirmation yet" action={see} alert>
      Your payment of {charged} is being checked. If it arrived, the hours are added by themselves; if they cannot be,
      the full amount goes back to the card or account that paid.
    </Notice>
  );
}

/** The end, or the banked time of a paused clock (G24), before and after. */
function endsOf({ expires_at, banked_seconds }: Environment, hours: number) {
  if (expires_at === null)
    return [
      { label: "Banked now", value: duration(banked_seconds) },
      { label: "With the new hours", value: duration(banked_seconds + hours * 3600) },
    ];
  const later = new Date(Date.parse(expires_at) + hours * 3_600_000).toISOString();
  return [
    { label: "Current end", value: dateTime(expires_at) },
    { label: "With the new hours", value: dateTime(later) },
  ];
}
