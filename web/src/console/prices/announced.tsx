import type { OperatedCatalogue } from "@berth/contract/console/catalogue";
import { dateTime } from "../../format.ts";
import { Tag } from "../../ui/display/status.tsx";
import { Table } from "../../ui/display/table.tsx";
import list from "../frame/list.module.css";

const columns = ["Since", "Notice", "State"];

/** Raises and changes that every account is told of, 30 days before. */
export function Announced({ announced }: Pick<OperatedCatalogue, "announced">) {
  return (
    <section aria-label="Announced">
      <h2 className={list.title}>Announced to every account</h2>
      <Table className={list.rows} columns={columns}>
        {announced.map(({ title, body, created_at, done }) => (
          <tr key={`${created_at} ${title}`}>
            <td data-label="Since">{dateTime(created_at)}</td>
            <td data-label="Notice">
              {title}
              <small>{body}</small>
            </td>
            <td data-label="State">{done ? <Tag>Sent</Tag> : <Tag tone="wait">Being sent</Tag>}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
