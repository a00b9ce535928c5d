import { Skeleton } from "@mantine/core";
import { ApiError } from "../../api/api-error.ts";
import { DetailPage } from "../../ui/display/detail-page.tsx";
import { EmptyState } from "../../ui/display/empty-state.tsx";
import { NotRead } from "./not-read.tsx";

interface Props {
  /** The list that the page belongs to. */
  readonly back: { readonly to: string; readonly label: string };
  /** "account" */
  readonly what: string;
  /** Null while it is read. */
  readonly error: Error | null;
  readonly onAgain: () => void;
}

/** A page of one thing, while it is read, when it does not exist, and when it could not be read. */
export function NotShown({ back, what, error, onAgain }: Props) {
  const isMissing = error instanceof ApiError && error.status === 404;
  return (
    <DetailPage back={back}>
      {!error && <Skeleton height={320} radius="lg" role="status" aria-label={`Reading the ${what}`} />}
      {isMissing ? (
        <EmptyState title={`There is no such ${what}`} bare>
          It may have been deleted, or the address is mistyped.
        </EmptyState>
      ) : (
        error && <NotRead what={`The ${what}`} error={error} onAgain={onAgain} />
      )}
    </DetailPage>
  );
}
