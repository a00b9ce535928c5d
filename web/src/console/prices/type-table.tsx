import { prepareType, type SoldType } from "@berth/contract/console/catalogue";
import { Button } from "@mantine/core";
import { Tag } from "../../ui/display/status.tsx";
import { Table } from "../../ui/display/table.tsx";
import type { ActRequest } from "../frame/act-dialog.tsx";
import { callConsole } from "../frame/call-console.ts";
import list from "../frame/list.module.css";

const columns = ["Type", "Runs", "On each host"];

interface Props {
  readonly types: readonly SoldType[];
  readonly onAct: (request: ActRequest) => void;
}

/** The types that are sold, and where each can run. */
export function TypeTable({ types, onAct }: Props) {
  return (
    <section aria-label="Types">
      <h2 className={list.title}>Types</h2>
      <Table className={list.rows} columns={columns}>
        {types.map((type) => (
          <tr key={type.id}>
            <th scope="row" data-label="Type">
              {type.name}
              <small>{type.id}</small>
            </th>
            <td data-label="Runs">{type.recipe}</td>
            <td data-label="On each host">
              {type.images.length === 0 && <Tag tone="hold">No host has it</Tag>}
              {type.images.map((image) => (
                <Image
                  key={image.host_id}
                  name={type.name}
                  image={image}
                  onPrepare={() => onAct(requestOf(type, image.host_id))}
                />
              ))}
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

const tones = { ready: "live", preparing: "wait", unavailable: "hold" } as const;

function requestOf({ id, name }: SoldType, host: string): ActRequest {
  return {
    title: `Prepare ${name}`,
    action: "Prepare",
    consequences: `${name} is downloaded and installed on ${host}: up to some gigabytes, and minutes. It can be rented meanwhile, and a launch waits for it.`,
    run: (reason) => callConsole(prepareType, { params: { id }, body: { host, reason } }),
  };
}

interface ImageProps {
  readonly name: string;
  readonly image: SoldType["images"][number];
  readonly onPrepare: () => void;
}

function Image({ name, image: { host_id, state, percent, message, can_prepare }, onPrepare }: ImageProps) {
  const texts = {
    ready: "Ready",
    preparing: percent === null ? "Being prepared" : `Being prepared, ${percent}%`,
    unavailable: "Not prepared",
  };
  return (
    <div>
      {host_id}: <Tag tone={tones[state]}>{texts[state]}</Tag>
      {can_prepare ? (
        <Button variant="subtle" aria-label={`Prepare ${name} on ${host_id}`} onClick={onPrepare}>
          Prepare
        </Button>
      ) : (
        message !== "" && <small>{message}</small>
      )}
    </div>
  );
}
