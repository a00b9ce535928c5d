import type { ListedOrder } from "@berth/contract/console/orders";
import type { Tone } from "../../ui/display/status.tsx";

/** The state of an order in a list, before its money is looked at. */
export const orderStatus: Readonly<Record<ListedOrder["status"], { readonly label: string; readonly tone: Tone }>> = {
  draft: { label: "Not paid yet", tone: "wait" },
  open: { label: "Not paid yet", tone: "wait" },
  cancelled: { label: "Closed unpaid", tone: "rest" },
  expired: { label: "Not paid in time", tone: "rest" },
  paid: { label: "Starting", tone: "wait" },
  fulfilled: { label: "Delivered", tone: "live" },
  refunding: { label: "Being paid back", tone: "hold" },
  refunded: { label: "Paid back", tone: "rest" },
};
