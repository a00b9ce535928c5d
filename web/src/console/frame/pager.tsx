import { Button } from "@mantine/core";
import list from "./list.module.css";

interface Props {
  /** From 1. */
  readonly page: number;
  readonly perPage: number;
  readonly total: number;
  readonly onPage: (page: number) => void;
}

/** "51 to 100 of 123", and the ways to the other pages where there are some. */
export function Pager({ page, perPage, total, onPage }: Props) {
  if (total === 0 && page === 1) return null;
  const first = (page - 1) * perPage + 1;
  const last = Math.min(total, page * perPage);
  return (
    <nav className={list.pager} aria-label="Pages">
      <p role="status">{first <= total ? `${first} to ${last} of ${total}` : `There is no page ${page}`}</p>
      {(total > perPage || page > 1) && (
        <>
          <Button variant="default" disabled={page === 1} onClick={() => onPage(page - 1)}>
            Previous
          </Button>
          <Button variant="default" disabled={last >= total} onClick={() => onPage(page + 1)}>
            Next
          </Button>
        </>
      )}
    </nav>
  );
}
