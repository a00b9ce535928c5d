import { answerTicket, closeTicket, longestAnswer, readTicket, type Ticket } from "@berth/contract/console/messages";
import { Button, Textarea } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Link, useParams } from "react-router";
import { dateTime } from "../../format.ts";
import { DetailPage } from "../../ui/display/detail-page.tsx";
import { ActTable } from "../audit/act-table.tsx";
import { ActDialog, type ActRequest } from "../frame/act-dialog.tsx";
import { callConsole } from "../frame/call-console.ts";
import list from "../frame/list.module.css";
import { NotShown } from "../frame/not-shown.tsx";
import classes from "./messages.module.css";
import { TicketState } from "./messages-page.tsx";

const back = { to: "/messages", label: "All tickets" };

/** One ticket with its answers; an answer goes out by bell and mail. */
export function TicketPage() {
  const { id = "" } = useParams();
  const [request, setRequest] = useState<ActRequest>();
  const { data, error, refetch } = useQuery({
    queryKey: ["tickets", "one", id],
    queryFn: ({ signal }) => callConsole(readTicket, { params: { id }, body: {} }, signal),
  });
  if (!data) return <NotShown back={back} what="ticket" error={error} onAgain={refetch} />;
  const { ticket, answers, audit } = data;
  return (
    <DetailPage back={back}>
      <Question ticket={ticket} onAct={setRequest} />
      {answers.length > 0 && (
        <ul className={classes.answers} aria-label="Answers">
          {answers.map((answer) => (
            <li key={answer.id}>
              <p className={classes.meta}>Answered {dateTime(answer.answered_at)}</p>
              <p className={classes.text}>{answer.text}</p>
            </li>
          ))}
        </ul>
      )}
      <Answer key={answers.length} ticket={ticket} onAct={setRequest} />
      {audit.length > 0 && (
        <section aria-label="What operators did">
          <h2 className={list.title}>What operators did</h2>
          <ActTable acts={audit} ofOne />
        </section>
      )}
      <ActDialog request={request} onClose={() => setRequest(undefined)} />
    </DetailPage>
  );
}

interface PartProps {
  readonly ticket: Ticket;
  readonly onAct: (request: ActRequest) => void;
}

function Question({ ticket, onAct }: PartProps) {
  const { id, code, email, user_id, issue_type, created_at, description, answered_at, closed_at } = ticket;
  const close = () =>
    onAct({
      title: `Close ${code}`,
      action: "Close",
      consequences: "It is no longer among the open ones. Its owner is not notified.",
      run: (reason) => callConsole(closeTicket, { params: { id }, body: { reason } }),
    });
  return (
    <section className={classes.section} aria-label="Ticket">
      <div className={list.head}>
        <div>
          <h2 className={list.title}>{code}</h2>
          <p className={classes.meta}>
            <Link className="link" to={`/people/${user_id}`}>
              {email}
            </Link>
            , {issue_type.replaceAll("_", " ")}, {dateTime(created_at)}
          </p>
          <TicketState ticket={ticket} />
        </div>
        {!closed_at && !answered_at && (
          <Button variant="default" onClick={close}>
            Close without an answer
          </Button>
        )}
      </div>
      <p className={classes.text}>{description}</p>
    </section>
  );
}

function Answer({ ticket: { id, code, email }, onAct }: PartProps) {
  const [text, setText] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() === "") return;
    onAct({
      title: `Answer ${code}`,
      action: "Send",
      consequences: `${email} reads your answer by bell and mail.`,
      run: (reason) => callConsole(answerTicket, { params: { id }, body: { text, reason } }),
    });
  };
  return (
    <form className={classes.form} onSubmit={submit} aria-label="Answer">
      <Textarea
        label="Your answer"
        rows={6}
        maxLength={longestAnswer}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Button type="submit" disabled={text.trim() === ""}>
        Answer
      </Button>
    </form>
  );
}
