import { grantCredit, mostGpus, mostHours } from "@berth/contract/console/credits";
import { Button } from "@mantine/core";
import { useState } from "react";
import { ActDialog, type ActRequest } from "../frame/act-dialog.tsx";
import { callConsole } from "../frame/call-console.ts";
import { creditText } from "./credit-text.ts";
import { NumberField, wholeNumberOf } from "./number-field.tsx";

interface Props {
  readonly userId: string;
  readonly email: string;
}

const unfilled = { hours: "", gpus: "1" };

/** Gives an account hours that it does not pay for (G153). */
export function GrantCredit({ userId, email }: Props) {
  const [opened, setOpened] = useState(false);
  const [fields, setFields] = useState(unfilled);
  const hours = wholeNumberOf(fields.hours, mostHours);
  const gpus = wholeNumberOf(fields.gpus, mostGpus);
  const complete = hours !== undefined && gpus !== undefined;
  const sum = complete ? ` That is ${creditText(hours * gpus)}.` : "";
  const request: ActRequest = {
    title: `Grant a credit to ${email}`,
    action: "Grant",
    consequences: `Its next environment gets these hours by itself, on top of what is bought. They cost nothing and are never paid out.${sum}`,
    fields: (
      <>
        <NumberField
          label="Hours"
          most={mostHours}
          typed={fields.hours}
          onChange={(text) => setFields({ ...fields, hours: text })}
          first
        />
        <NumberField
          label="With so many GPUs"
          most={mostGpus}
          typed={fields.gpus}
          onChange={(text) => setFields({ ...fields, gpus: text })}
        />
      </>
    ),
    complete,
    reasonHint: "Its owner reads it by bell and mail, and the audit keeps it.",
    run: (reason) =>
      callConsole(grantCredit, { params: { id: userId }, body: { hours: hours ?? 0, gpus: gpus ?? 0, reason } }),
  };
  const close = () => {
    setOpened(false);
    setFields(unfilled);
  };
  return (
    <>
      <Button variant="default" onClick={() => setOpened(true)}>
        Grant a credit
      </Button>
      <ActDialog request={opened ? request : undefined} onClose={close} />
    </>
  );
}
