import { maxSshKeys } from "@berth/contract";
import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { sshKeysQuery } from "../../api/queries.ts";
import { CopyText } from "../../ui/controls/copy-text.tsx";
import page from "../settings-page.module.css";
import { SettingsPart } from "../settings-part.tsx";
import { SshKeyForm } from "./ssh-key-form.tsx";
import { SshKeyList } from "./ssh-key-list.tsx";
import classes from "./ssh-keys.module.css";

interface Props {
  readonly userId: string;
}

/** The public SSH keys of the account (G410). */
export function SshKeysPanel({ userId }: Props) {
  const query = useQuery({ ...sshKeysQuery(userId), enabled: userId !== "" });
  const { data } = query;
  return (
    <div className={page.form}>
      <h2>SSH keys</h2>
      <p className={page.lead}>
        Whoever holds the private half of a key listed here opens all of your environments by SSH.{" "}
        <a className="link" href="/docs/use/ssh" target="_blank" rel="noreferrer">
          How to connect
        </a>
      </p>
      <SettingsPart id="ssh-keys" title="Your keys" query={query}>
        {data && data.length > 0 && <SshKeyList userId={userId} sshKeys={data} />}
        {data?.length === 0 && <FirstKey />}
        {!data && !query.error && (
          <div role="status" aria-label="Loading your SSH keys..." className={classes.loading}>
            <Skeleton height={44} />
            <Skeleton height={44} />
          </div>
        )}
      </SettingsPart>
      <SettingsPart id="add-ssh-key" title="Add a key">
        {data && data.length >= maxSshKeys ? (
          <p>An account has {maxSshKeys} keys at most. Remove one to add another.</p>
        ) : (
          <SshKeyForm userId={userId} />
        )}
      </SettingsPart>
    </div>
  );
}

const fileOf = [
  ["macOS, Linux", "cat ~/.ssh/id_ed25519.pub"],
  ["Windows", "type $env:USERPROFILE\\.ssh\\id_ed25519.pub"],
] as const;

/** What a key is, and how to make one. */
function FirstKey() {
  return (
    <>
      <p>
        None yet. A key is a pair of files: the private one stays on your computer, the public one ends in .pub and is
        pasted below. If you have none, this makes a pair, in a terminal or PowerShell:
      </p>
      <p className={classes.command}>
        <CopyText value="ssh-keygen -t ed25519" label="the command that makes a key" />
      </p>
      <p>This shows the public one:</p>
      <dl className={classes.commands}>
        {fileOf.map(([system, command]) => (
          <div key={system}>
            <dt>{system}</dt>
            <dd>
              <CopyText value={command} label={`the command for ${system}`} />
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}
