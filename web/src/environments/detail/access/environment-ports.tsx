import { type ListeningPort, portLabel } from "@berth/contract";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { messageOf } from "../../../api/call.ts";
import { permitOpening } from "../../../api/open-permits.ts";
import { useConfig } from "../../../api/product-config.ts";
import { portsQuery } from "../../../api/queries.ts";
import { commonTexts } from "../../../content/common-texts.ts";
import { environmentAddress, hostName } from "../../../format.ts";
import { Table } from "../../../ui/display/table.tsx";
import type { Detail } from "../../lifecycle/environment.ts";
import table from "../detail-table.module.css";
import section from "../environment-section.module.css";
import classes from "./environment-ports.module.css";

/** What listens inside, each port with an address of its own (G385). */
export function EnvironmentPorts({ environment }: { readonly environment: Detail }) {
  const { id, subdomain } = environment;
  const template = useConfig()?.environmentUrl;
  const { data: ports, error, refetch } = useQuery(portsQuery(id));
  return (
    <section aria-labelledby="ports-title">
      <h2 id="ports-title" className="section-title">
        Ports
      </h2>
      <p className={section.lead}>
        A program that listens inside, such as TensorBoard or Gradio, opens at an address of its own. Only you can open
        it.
      </p>
      {ports && ports.length > 0 && template !== undefined ? (
        <Ports ports={ports} subdomain={subdomain} template={template} />
      ) : (
        <div className={classes.none} role="status">
          <p>{textOf(ports, error, template && hostName(template, portLabel(6006, subdomain)))}</p>
          {error && !ports && (
            <Button size="xs" variant="default" onClick={() => void refetch()}>
              {commonTexts.tryAgain}
            </Button>
          )}
        </div>
      )}
    </section>
  );
}

function textOf(ports: readonly ListeningPort[] | null | undefined, error: Error | null, example: string | undefined) {
  if (error && !ports) return `The ports could not be read. ${messageOf(error)}`;
  if (ports === undefined) return "Looking for programs that listen...";
  if (ports === null)
    return "The environment does not say what listens in it. If that stays so, it was started before ports had addresses: stop and restart it once.";
  return (
    <>
      Nothing listens now.
      {example !== undefined && (
        <>
          {" "}
          What listens on port 6006 opens at <code>{example}</code>.
        </>
      )}
    </>
  );
}

interface PortsProps {
  readonly ports: readonly ListeningPort[];
  readonly subdomain: string;
  readonly template: string;
}

function Ports({ ports, subdomain, template }: PortsProps) {
  return (
    <Table columns={["Port", "Program", "Action"]} className={`${table.table} ${classes.table}`}>
      {ports.map(({ port, program }) => {
        const label = portLabel(port, subdomain);
        const permit = () => permitOpening(label);
        return (
          <tr key={port}>
            <th scope="row">{port}</th>
            <td>{program}</td>
            <td>
              <Button
                component="a"
                size="xs"
                variant="default"
                href={environmentAddress(template, label)}
                target="_blank"
                rel="noopener"
                onClick={permit}
                onAuxClick={permit}
                aria-label={`Open port ${port}`}
              >
                Open
              </Button>
            </td>
          </tr>
        );
      })}
    </Table>
  );
}
