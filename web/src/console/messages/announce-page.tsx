import { plural } from "@berth/contract";
import {
  type Audience,
  announce,
  audiences,
  longestAnnouncement,
  longestTitle,
} from "@berth/contract/console/messages";
import { Button, Checkbox, Radio, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { DetailPage } from "../../ui/display/detail-page.tsx";
import { ActDialog, type ActRequest } from "../frame/act-dialog.tsx";
import { callConsole } from "../frame/call-console.ts";
import { NotRead } from "../frame/not-read.tsx";
import { announcementsQuery, audienceNames } from "./announcements.tsx";
import classes from "./messages.module.css";

const back = { to: "/messages", label: "Messages and tickets" };

/** Writes an announcement; how many accounts it reaches is shown before. */
export function AnnouncePage() {
  const [request, setRequest] = useState<ActRequest>();
  const navigate = useNavigate();
  const { data, error, refetch } = useQuery(announcementsQuery);
  const form = useForm({
    initialValues: { title: "", text: "", audience: "all" as Audience, by_mail: false },
    validate: {
      title: (title) => (title.trim() === "" ? "An announcement needs a title" : null),
      text: (text) => (text.trim() === "" ? "An announcement needs a text" : null),
    },
  });
  const { audience, by_mail } = form.values;
  const reach = data ? reachText(data.receivers[audience], by_mail) : "";
  const submit = form.onSubmit((values) =>
    setRequest({
      title: `Announce "${values.title.trim()}"`,
      action: "Announce",
      consequences: `${reach} It cannot be taken back.`,
      async run(reason) {
        const reply = await callConsole(announce, { params: {}, body: { ...values, reason } });
        await navigate(back.to);
        return reply;
      },
    }),
  );
  return (
    <DetailPage back={back}>
      {error && <NotRead what="The number of accounts" error={error} onAgain={refetch} />}
      <form className={classes.form} noValidate onSubmit={submit} aria-label="Announcement">
        <TextInput label="Title" maxLength={longestTitle} {...form.getInputProps("title")} />
        <Textarea label="Text" rows={6} maxLength={longestAnnouncement} {...form.getInputProps("text")} />
        <Radio.Group label="To" {...form.getInputProps("audience")}>
          {audiences.map((each) => (
            <Radio key={each} mt={4} value={each} label={audienceNames[each]} />
          ))}
        </Radio.Group>
        <Checkbox
          label="Also by mail, to those who get mails about their environments"
          {...form.getInputProps("by_mail", { type: "checkbox" })}
        />
        <p className={classes.reach} role="status">
          {reach}
        </p>
        <Button type="submit" disabled={!data || data.receivers[audience].accounts === 0}>
          Announce
        </Button>
      </form>
      <ActDialog request={request} onClose={() => setRequest(undefined)} />
    </DetailPage>
  );
}

function reachText(
  { accounts, mails }: { readonly accounts: number; readonly mails: number },
  byMail: boolean,
): string {
  const bell = accounts === 0 ? "Nobody would get it." : `${plural(accounts, "account")} will get it by bell`;
  if (accounts === 0) return bell;
  return byMail ? `${bell}, ${mails} of them by mail too.` : `${bell}.`;
}
