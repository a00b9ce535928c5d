import { plural } from "@berth/contract";
import { createVouchers, mostCodes, mostGpus, mostHours } from "@berth/contract/console/credits";
import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { ActDialog, type ActRequest } from "../frame/act-dialog.tsx";
import { callConsole } from "../frame/call-console.ts";
import { creditText } from "./credit-text.ts";
import type { NewCodes } from "./made-codes.tsx";
import { NumberField, wholeNumberOf } from "./number-field.tsx";

const unfilled = { hours: "", gpus: "1", count: "1", perMonth: "", lastDay: "" };
type Fields = typeof unfilled;

/** Makes codes of one kind and hands them on: the reply alone has them (G156). */
export function NewVouchers({ onMade }: { readonly onMade: (made: NewCodes) => void }) {
  const [opened, setOpened] = useState(false);
  const [fields, setFields] = useState(unfilled);
  const wanted = wantedOf(fields);
  const request: ActRequest = {
    title: "New vouchers",
    action: wanted ? `Make ${plural(wanted.count, "code")}` : "Make codes",
    consequences: `Each code brings a credit to one account, once; an account redeems one of them.${
      wanted ? ` A credit is ${creditText(wanted.hours * wanted.gpus)}.` : ""
    }`,
    fields: <KindFields fields={fields} onChange={(part) => setFields({ ...fields, ...part })} />,
    complete: wanted !== undefined,
    reasonHint: "What they are for. This list names them by it, and the audit keeps it.",
    async run(reason) {
      if (!wanted) throw new Error("The form is not complete");
      const made = await callConsole(createVouchers, { params: {}, body: { ...wanted, reason } });
      onMade(made);
      return made;
    },
  };
  const close = () => {
    setOpened(false);
    setFields(unfilled);
  };
  return (
    <>
      <Button variant="default" onClick={() => setOpened(true)}>
        New vouchers
      </Button>
      <ActDialog request={opened ? request : undefined} onClose={close} />
    </>
  );
}

interface KindProps {
  readonly fields: Fields;
  readonly onChange: (part: Partial<Fields>) => void;
}

function KindFields({ fields: { hours, gpus, count, perMonth, lastDay }, onChange }: KindProps) {
  return (
    <>
      <NumberField label="Hours" most={mostHours} typed={hours} onChange={(text) => onChange({ hours: text })} first />
      <NumberField
        label="With so many GPUs"
        most={mostGpus}
        typed={gpus}
        onChange={(text) => onChange({ gpus: text })}
      />
      <NumberField label="Codes" most={mostCodes} typed={count} onChange={(text) => onChange({ count: text })} />
      <NumberField
        label="At most so many a month"
        description="Of a calendar month in UTC. Empty: no limit."
        most={mostCodes}
        typed={perMonth}
        onChange={(text) => onChange({ perMonth: text })}
      />
      <TextInput
        type="date"
        label="Last day"
        description="In UTC. Empty: no end."
        value={lastDay}
        onChange={(event) => onChange({ lastDay: event.currentTarget.value })}
      />
    </>
  );
}

/** Undefined while a field has no value that can be sent. */
function wantedOf({ perMonth, lastDay, ...typed }: Fields) {
  const hours = wholeNumberOf(typed.hours, mostHours);
  const gpus = wholeNumberOf(typed.gpus, mostGpus);
  const count = wholeNumberOf(typed.count, mostCodes);
  const per_month = perMonth.trim() === "" ? null : wholeNumberOf(perMonth, mostCodes);
  if (hours === undefined || gpus === undefined || count === undefined || per_month === undefined) return undefined;
  return { hours, gpus, count, per_month, last_day: lastDay || null };
}
