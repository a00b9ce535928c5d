import { actOnEnvironment } from "@berth/contract/console/environments";
import { dismissMining, type MiningFinding } from "@berth/contract/console/mining";
import { Button } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";
import { dateTime } from "../../format.ts";
import { Tag } from "../../ui/display/status.tsx";
import { Table } from "../../ui/display/table.tsx";
import { ActDialog, type ActRequest } from "../frame/act-dialog.tsx";
import { callConsole } from "../frame/call-console.ts";
import list from "../frame/list.module.css";
import { Owner } from "../frame/owner.tsx";
import classes from "./evidence.module.css";
import { Evidence } from "./evidence.tsx";

interface Props {
  readonly findings: readonly MiningFinding[];
  /** On the page of an environment its name and owner are known. */
  readonly ofOne?: boolean;
}

/** What the mining detector found, for a person to end or to dismiss (G69, G157). */
export function MiningFindings({ findings, ofOne = false }: Props) {
  const [request, setRequest] = useState<ActRequest>();
  const columns = [...(ofOne ? [] : ["Environment", "Owner"]), "Found", "Evidence", { label: "Decision", end: true }];
  return (
    <>
      <Table className={list.rows} columns={columns}>
        {findings.map((finding) => (
          <tr key={finding.id}>
            {!ofOne && <Whose finding={finding} />}
            <td data-label="Found">
              {dateTime(finding.found_at)}
              {dateTime(finding.seen_at) !== dateTime(finding.found_at) && (
                <small>last seen {dateTime(finding.seen_at)}</small>
              )}
            </td>
            <td data-label="Evidence">
              <Evidence finding={finding} />
            </td>
            <td data-end>
              <Decision finding={finding} onAct={setRequest} />
            </td>
          </tr>
        ))}
      </Table>
      <ActDialog request={request} onClose={() => setRequest(undefined)} />
    </>
  );
}

function Whose({ finding: { environment_id, subdomain, user_id, email } }: { readonly finding: MiningFinding }) {
  return (
    <>
      <th scope="row" data-label="Environment">
        <Link className="link target" to={`/environments/${environment_id}`}>
          {subdomain}
        </Link>
      </th>
      <td data-label="Owner">
        <Owner id={user_id} email={email} />
      </td>
    </>
  );
}

interface DecisionProps {
  readonly finding: MiningFinding;
  readonly onAct: (request: ActRequest) => void;
}

function Decision({ finding, onAct }: DecisionProps) {
  const { subdomain, state } = finding;
  if (state === "dismissed") return <Tag>No mining</Tag>;
  if (state === "ended") return <Tag tone="fail">Ended</Tag>;
  return (
    <div className={`${list.actions} ${classes.decision}`}>
      {[dismissal(finding), end(finding)].map((request) => (
        <Button
          key={request.action}
          variant="subtle"
          aria-label={`${request.action} ${subdomain}: ${finding.evidence.what}`}
          onClick={() => onAct(request)}
        >
          {request.action}
        </Button>
      ))}
    </div>
  );
}

function dismissal({ id, subdomain }: MiningFinding): ActRequest {
  return {
    title: `No mining in ${subdomain}`,
    action: "Dismiss",
    consequences: "It goes on, and this is not found again in its run. Its owner is not notified.",
    run: (reason) => callConsole(dismissMining, { params: { id }, body: { reason } }),
  };
}

function end({ environment_id: id, subdomain }: MiningFinding): ActRequest {
  return {
    title: `End ${subdomain} for mining`,
    action: "End",
    consequences:
      "It ends at once and for good. Nothing is paid back, as the terms say; its files are kept as after any end.",
    reasonHint: "The owner reads it, by bell and by mail, and the audit keeps it.",
    expected: subdomain,
    run: (reason, typed) =>
      callConsole(actOnEnvironment, { params: { id, act: "terminate" }, body: { reason, typed, refund: false } }),
  };
}
