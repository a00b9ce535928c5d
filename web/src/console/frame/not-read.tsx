import { Button } from "@mantine/core";
import { messageOf } from "../../api/call.ts";
import { Notice } from "../../ui/display/notice.tsx";

interface Props {
  /** "The orders" */
  readonly what: string;
  readonly error: Error;
  readonly onAgain: () => void;
}

/** Says what could not be read, and why. */
export function NotRead({ what, error, onAgain }: Props) {
  return (
    <Notice tone="fail" title={`${what} could not be read`} alert action={<Button onClick={onAgain}>Try again</Button>}>
      {messageOf(error)}
    </Notice>
  );
}
