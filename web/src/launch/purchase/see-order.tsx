import { Button } from "@mantine/core";
import { Link } from "react-router";
import type { Failure } from "./launch-state.ts";

/** A link to the order's page, which shows the state of the money (G14). */
export function SeeOrder({ failure: { orderId } }: { readonly failure: Failure }) {
  return (
    <Button component={Link} to={`/billing/orders/${orderId}`} size="xs" variant="default">
      See the order
    </Button>
  );
}
