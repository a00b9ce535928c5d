import { plural } from "@berth/contract";
import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useConfig } from "../../api/product-config.ts";
import { keys, secondFactorQuery } from "../../api/queries.ts";
import { date } from "../../format.ts";
import { Dialog } from "../../ui/dialogs/dialog.tsx";
import { toast } from "../../ui/toast/toast.ts";
import { SettingsPart } from "../settings-part.tsx";
import { FactorRemoval } from "./factor-removal.tsx";
import { FactorSetUp } from "./factor-set-up.tsx";
import { NewRecoveryCodes } from "./new-recovery-codes.tsx";
import classes from "./second-factor.module.css";

interface Props {
  readonly userId: string;
}

type Step = "set-up" | "codes" | "removal";

const titles: Readonly<Record<Step, string>> = {
  "set-up": "Set up two-factor sign-in",
  codes: "New recovery codes",
  removal: "Turn off two-factor sign-in?",
};

/** Whether a login needs a code, and what can be done about it (G398, G399). */
export function SecondFactor({ userId }: Props) {
  const hosted = useConfig()?.identity.kind === "firebase";
  const client = useQueryClient();
  const query = useQuery({ ...secondFactorQuery(userId), enabled: !hosted });
  const { data } = query;
  const [step, setStep] = useState<Step>();
  const close = () => {
    setStep(undefined);
    // The guard's check too: a factor may have been required.
    for (const queryKey of [keys.secondFactor(userId), keys.validate(userId)])
      void client.invalidateQueries({ queryKey });
  };
  return (
    <SettingsPart id="second-factor" title="Two-factor sign-in" query={query}>
      {hosted && <p>Your account is kept by another sign-in service, which offers a second factor of its own.</p>}
      {data && !data.since && data.mode === "off" && <p>Not offered here.</p>}
      {data && !data.since && data.mode !== "off" && (
        <>
          <p>
            {data.mode === "required"
              ? "It is required here: set it up to go on, or add a passkey and log in with that."
              : "Off."}{" "}
            With it a login needs a code of an authenticator app on your phone, besides the password.
          </p>
          <Button variant="default" onClick={() => setStep("set-up")}>
            Set up
          </Button>
        </>
      )}
      {data?.since && (
        <>
          <p data-low={data.recovery_codes < 3 || undefined}>
            On since {date(data.since)}. {plural(data.recovery_codes, "recovery code")} left.
          </p>
          <div className={classes.buttons}>
            <Button variant="default" onClick={() => setStep("codes")}>
              New recovery codes
            </Button>
            {data.mode !== "required" && (
              <Button variant="default" className={classes.danger ?? ""} onClick={() => setStep("removal")}>
                Turn off
              </Button>
            )}
          </div>
        </>
      )}
      <Dialog opened={step !== undefined} title={titles[step ?? "set-up"]} onClose={close}>
        {step === "set-up" && <FactorSetUp userId={userId} onDone={close} />}
        {step === "codes" && <NewRecoveryCodes userId={userId} onDone={close} />}
        {step === "removal" && (
          <FactorRemoval
            userId={userId}
            onClose={close}
            onDone={() => {
              close();
              toast.success("Two-factor sign-in is off");
            }}
          />
        )}
      </Dialog>
    </SettingsPart>
  );
}
