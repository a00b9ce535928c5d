import { plural } from "@berth/contract";
import type { Person } from "@berth/contract/console/people";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useParams } from "react-router";
import { date, dateTime, money } from "../../format.ts";
import { DetailPage } from "../../ui/display/detail-page.tsx";
import { Facts } from "../../ui/display/facts.tsx";
import { Tag } from "../../ui/display/status.tsx";
import { ActTable } from "../audit/act-table.tsx";
import { ActDialog, type ActRequest } from "../frame/act-dialog.tsx";
import list from "../frame/list.module.css";
import { NotShown } from "../frame/not-shown.tsx";
import { personQuery } from "../frame/person-query.ts";
import { PersonActs } from "./person-acts.tsx";
import { PersonLists } from "./person-lists.tsx";
import classes from "./person-page.module.css";

const back = { to: "/people", label: "All accounts" };

/** One account: what it has, paid and did wrong, and what operators did with it. Nothing of what is in its files. */
export function PersonPage() {
  const { id = "" } = useParams();
  const [request, setRequest] = useState<ActRequest>();
  const { data, error, refetch } = useQuery(personQuery(id));
  if (!data) return <NotShown back={back} what="account" error={error} onAgain={refetch} />;
  const { person, audit, warnings_before, credits } = data;
  return (
    <DetailPage back={back}>
      <div className={list.head}>
        <Title person={person} />
        <PersonActs person={person} warningsBefore={warnings_before} onAct={setRequest} />
      </div>
      <div className={classes.facts}>
        <AccountFacts person={person} />
        <MoneyFacts person={person} />
      </div>
      <PersonLists person={person} credits={credits} onAct={setRequest} />
      <section aria-label="What operators did">
        <h2 className={list.title}>What operators did</h2>
        {audit.length > 0 ? <ActTable acts={audit} ofOne /> : <p className={list.hint}>Nothing with this account.</p>}
      </section>
      <ActDialog request={request} onClose={() => setRequest(undefined)} />
    </DetailPage>
  );
}

/** The address is the title of the screen (console-frame.tsx). */
function Title({ person: { name, suspended, held, warnings } }: { readonly person: Person }) {
  return (
    <div className={classes.title}>
      {name !== "" && <h2>{name}</h2>}
      <p className={classes.tags}>
        {suspended && <Tag tone="fail">Suspended</Tag>}
        {held && <Tag tone="hold">May not order after a lost dispute</Tag>}
        {warnings.length > 0 && <Tag tone="hold">{plural(warnings.length, "warning")}</Tag>}
        {!suspended && !held && warnings.length === 0 && <Tag tone="live">In good order</Tag>}
      </p>
    </div>
  );
}

function AccountFacts({ person }: { readonly person: Person }) {
  const { user_id, email_verified, phone, created_at, last_sign_in, second_factor, passkeys } = person;
  return (
    <section aria-label="Account">
      <h2 className={list.title}>Account</h2>
      <Facts
        facts={[
          { label: "Id", value: <span className="mono">{user_id}</span> },
          { label: "Address", value: email_verified ? "Verified" : "Not verified" },
          { label: "Phone", value: phone || "None" },
          { label: "Since", value: date(created_at) },
          { label: "Second factor", value: second_factor ? "On" : "Off" },
          { label: "Passkeys", value: passkeys },
          { label: "Last sign-in", value: last_sign_in ? dateTime(last_sign_in) : "None" },
        ]}
      />
    </section>
  );
}

function MoneyFacts({ person }: { readonly person: Person }) {
  const facts = person.money.flatMap(({ currency, paid_minor, refunded_minor, disputes }) => [
    { label: `Paid, ${currency}`, value: money(paid_minor, currency) },
    { label: `Refunded, ${currency}`, value: money(refunded_minor, currency) },
    { label: `Disputes, ${currency}`, value: disputes },
  ]);
  return (
    <section aria-label="Money">
      <h2 className={list.title}>Money</h2>
      {facts.length > 0 ? <Facts facts={facts} /> : <p className={list.hint}>Nothing was paid.</p>}
    </section>
  );
}
