import type { SoldType } from "@berth/contract/console/catalogue";
import { Tag } from "../../ui/display/status.tsx";
import { Table } from "../../ui/display/table.tsx";
import list from "../frame/list.module.css";

const columns = ["Type", "Runs", "On each host"];

/** The types that are sold, and where each can run. */
export function TypeTable({ types }: { readonly types: readonly SoldType[] }) {
  return (
    <section aria-label="Types">
      <h2 className={list.title}>Types</h2>
      <Table className={list.rows} columns={columns}>
        {types.map(({ id, name, recipe, images }) => (
          <tr key={id}>
            <th scope="row" data-label="Type">
              {name}
              <small>{id}</small>
            </th>
            <td data-label="Runs">{recipe}</td>
            <td data-label="On each host">
              {images.length === 0 && <Tag tone="hold">No host has it</Tag>}
              {images.map((image) => (
                <Image key={image.host_id} image={image} />
              ))}
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

const tones = { ready: "live", preparing: "wait", unavailable: "hold" } as const;

function Image({ image: { host_id, state, percent, message } }: { readonly image: SoldType["images"][number] }) {
  const texts = {
    ready: "Ready",
    preparing: percent === null ? "Being prepared" : `Being prepared, ${percent}%`,
    unavailable: "Not prepared",
  };
  return (
    <div>
      {host_id}: <Tag tone={tones[state]}>{texts[state]}</Tag>
      {message !== "" && <small>{message}</small>}
    </div>
  );
}
