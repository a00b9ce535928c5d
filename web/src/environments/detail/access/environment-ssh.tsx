import type { SshConnection } from "@berth/contract";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { messageOf } from "../../../api/call.ts";
import { environmentSshQuery, sshKeysQuery } from "../../../api/queries.ts";
import { useSession } from "../../../api/session.ts";
import { commonTexts } from "../../../content/common-texts.ts";
import { CopyBlock } from "../../../ui/controls/copy-block.tsx";
import type { Detail } from "../../lifecycle/environment.ts";
import section from "../environment-section.module.css";

/** How to reach it by SSH, as the server writes it (G413). */
export function EnvironmentSsh({ environment }: { readonly environment: Detail }) {
  const { id, name, status } = environment;
  const userId = useSession()?.userId ?? "";
  const { data, error, refetch } = useQuery(environmentSshQuery(id, status));
  const { data: sshKeys } = useQuery({ ...sshKeysQuery(userId), enabled: userId !== "" });
  return (
    <section aria-labelledby="ssh-title">
      <h2 id="ssh-title" className="section-title">
        SSH
      </h2>
      <p className={section.lead}>
        A terminal, scp, rsync, VS Code, Cursor and JetBrains reach {name} by SSH.{" "}
        <a className="link" href="/docs/use/ssh" target="_blank" rel="noreferrer">
          How to use it
        </a>
      </p>
      {!data && (
        <div className={section.controls} role="status">
          <p className={section.lead}>{error ? messageOf(error) : "Asking how to connect..."}</p>
          {error && (
            <Button size="xs" variant="default" onClick={() => void refetch()}>
              {commonTexts.tryAgain}
            </Button>
          )}
        </div>
      )}
      {data?.reason && (
        <p className={section.note} role="status">
          {data.reason}
        </p>
      )}
      {data?.connection &&
        (sshKeys?.length === 0 ? (
          <div className={section.controls}>
            <p className={section.lead}>It needs a public key of yours.</p>
            <Button component={Link} to="/settings?tab=ssh-keys" size="xs" variant="default">
              Add an SSH key
            </Button>
          </div>
        ) : (
          <Connection {...data.connection} />
        ))}
    </section>
  );
}

function Connection({ command, config, known_hosts, host }: SshConnection) {
  return (
    <div className={section.blocks}>
      <CopyBlock label="In a terminal" text={command} />
      <CopyBlock label="For editors, scp and rsync: add to ~/.ssh/config" text={config} />
      <CopyBlock label="So that ssh knows whom it reaches: add to ~/.ssh/known_hosts" text={known_hosts.join("\n")} />
      <p className={section.lead}>
        In VS Code, run <b>Remote-SSH: Connect to Host...</b> and choose <code>{host}</code>.
      </p>
    </div>
  );
}
