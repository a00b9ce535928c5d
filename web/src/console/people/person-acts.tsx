import { actOnPerson, exportPerson, makeResetLink, type Person, suspendPerson } from "@berth/contract/console/people";
import { Button, Menu } from "@mantine/core";
import { ChevronDown } from "lucide-react";
import { useState } from "react";
import { saveText } from "../../api/save-file.ts";
import { CopyText } from "../../ui/controls/copy-text.tsx";
import { Dialog } from "../../ui/dialogs/dialog.tsx";
import { GrantCredit } from "../credits/grant-credit.tsx";
import type { ActRequest } from "../frame/act-dialog.tsx";
import { callConsole } from "../frame/call-console.ts";
import list from "../frame/list.module.css";
import { suspensionText } from "./suspension-text.ts";

interface Props {
  readonly person: Person;
  readonly warningsBefore: number;
  readonly onAct: (request: ActRequest) => void;
}

export function PersonActs({ person, warningsBefore, onAct }: Props) {
  const [link, setLink] = useState<string>();
  const grave = [
    ...(person.suspended ? [] : [warning(person, warningsBefore), suspension(person, warningsBefore, false)]),
    ...(person.suspended && person.if_suspended.ending === 0 ? [] : [suspension(person, warningsBefore, true)]),
  ];
  const harmless = [
    person.suspended ? lift(person) : newPassword(person, setLink),
    ...(person.second_factor || person.passkeys > 0 ? [factorRemoval(person)] : []),
    download(person),
  ];
  return (
    <div className={list.actions}>
      <GrantCredit userId={person.user_id} email={person.email} />
      {harmless.map((request) => (
        <Button key={request.title} variant="default" onClick={() => onAct(request)}>
          {request.action}
        </Button>
      ))}
      {grave.length > 0 && (
        <GraveMenu label={person.suspended ? "End environments" : "Warn or suspend"} requests={grave} onAct={onAct} />
      )}
      <Dialog opened={link !== undefined} title="Link for a new password" onClose={() => setLink(undefined)}>
        <p>
          Hand it to {person.email} and to nobody else: whoever opens it first sets the password. It works once, for an
          hour, and is not shown again.
        </p>
        {link !== undefined && <CopyText value={link} label="link" shown={`${link.slice(0, 40)}…`} />}
      </Dialog>
    </div>
  );
}

interface MenuProps {
  readonly label: string;
  readonly requests: readonly ActRequest[];
  readonly onAct: Props["onAct"];
}

/** Apart from the others, so that none is hit by chance. */
function GraveMenu({ label, requests, onAct }: MenuProps) {
  return (
    <Menu position="bottom-end" width={212}>
      <Menu.Target>
        <Button variant="subtle" rightSection={<ChevronDown size={14} strokeWidth={1.6} aria-hidden="true" />}>
          {label}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {requests.map((request) => (
          <Menu.Item key={request.title} onClick={() => onAct(request)}>
            {request.action}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

const ownerReads = "Its owner reads it by bell and mail, and the audit keeps it.";

function warning({ user_id: id, email, warnings }: Person, before: number): ActRequest {
  return {
    title: `Warn ${email}`,
    action: "Warn",
    consequences: `It is warning ${warnings.length + 1}; after ${before} an account can be suspended.`,
    reasonHint: ownerReads,
    run: (reason) => callConsole(actOnPerson, { params: { id, act: "warn" }, body: { reason } }),
  };
}

function suspension(person: Person, before: number, refund: boolean): ActRequest {
  const { user_id: id, email, warnings, suspended } = person;
  const now = warnings.length < before;
  const action = suspended ? "End and refund" : refund ? "Suspend and refund" : "Suspend";
  return {
    title: `${action}: ${email}`,
    action,
    consequences: suspensionText(person, { now, before, refund }),
    ...(!suspended && { reasonHint: ownerReads }),
    ...(refund && { expected: email }),
    run: (reason, typed) => callConsole(suspendPerson, { params: { id }, body: { reason, now, refund, typed } }),
  };
}

function lift({ user_id: id, email }: Person): ActRequest {
  return {
    title: `Lift the suspension of ${email}`,
    action: "Lift",
    consequences:
      "Its owner can sign in again and is notified. Stopped environments have kept their files and their time; what was ended stays ended.",
    run: (reason) => callConsole(actOnPerson, { params: { id, act: "lift" }, body: { reason } }),
  };
}

function newPassword({ user_id: id, email }: Person, show: (link: string) => void): ActRequest {
  return {
    title: `A new password for ${email}`,
    action: "Reset link",
    consequences: `This makes a link with which a new password is set, for an owner who gets no mail. A link that was made before is void. Make sure that you talk to the owner of ${email}.`,
    async run(reason) {
      const { link, message } = await callConsole(makeResetLink, { params: { id }, body: { reason } });
      show(link);
      return { message };
    },
  };
}

function factorRemoval({ user_id: id, email }: Person): ActRequest {
  return {
    title: `Remove the second factor of ${email}`,
    action: "Remove factor",
    consequences: `A login needs the password alone then, passkeys are removed, and every sign-in ends. Make sure that you talk to the owner of ${email}, who has lost phone and recovery codes.`,
    reasonHint: ownerReads,
    run: (reason) => callConsole(actOnPerson, { params: { id, act: "remove-factor" }, body: { reason } }),
  };
}

function download({ user_id: id, email }: Person): ActRequest {
  return {
    title: `Export ${email}`,
    action: "Export",
    consequences:
      "This saves everything that is stored about the account, as its owner could: orders, payments, messages, sign-ins. No files of environments, passwords or tokens.",
    async run(reason) {
      const { name, document, message } = await callConsole(exportPerson, { params: { id }, body: { reason } });
      saveText(name, document, "application/json");
      return { message };
    },
  };
}
