import { clearOrder, durationLabel, plural, type UnpaidOrder } from "@berth/contract";
import { Button } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";
import { call, messageOf } from "../../api/call.ts";
import { keys, unpaidOrdersQuery } from "../../api/queries.ts";
import { useUnit } from "../../api/use-unit.ts";
import { typeName } from "../../content/environment-types.ts";
import { unpaidTexts as texts } from "../../content/unpaid-texts.ts";
import { dateTime, money } from "../../format.ts";
import { Notice } from "../../ui/display/notice.tsx";
import { useNow } from "../../ui/display/use-now.ts";
import { toast } from "../../ui/toast/toast.ts";
import { payPath } from "./pay-path.ts";
import classes from "./unpaid-orders.module.css";

/** The orders that wait for their payment, each with its amount, a way to pay and one to drop it (G333). Else empty. */
export function UnpaidOrders({ userId }: { readonly userId: string }) {
  const { data = [] } = useQuery(unpaidOrdersQuery(userId));
  const now = useNow(1_000);
  return data
    .filter(({ held_until }) => Date.parse(held_until) > now)
    .map((order) => <Unpaid key={order.id} userId={userId} order={order} />);
}

function Unpaid({ userId, order }: { readonly userId: string; readonly order: UnpaidOrder }) {
  const { container_type, subdomain, gpu_count, duration_hours, amount, currency, held_until } = order;
  const client = useQueryClient();
  const drop = useMutation({
    mutationFn: () => call(clearOrder, { params: { order_id: order.payment_order }, body: {} }),
    onSuccess: ({ cleared }) =>
      cleared === false ? void toast.info(texts.inFlight) : void toast.success(texts.dropped(subdomain)),
    onError: (error) => void toast.error(messageOf(error, texts.failed)),
    onSettled: () => client.invalidateQueries({ queryKey: keys.unpaidOrders(userId) }),
  });
  const sum = money(Math.round(amount * 100), currency);
  const what = [typeName(container_type), plural(gpu_count, useUnit().one), durationLabel(duration_hours)].join(", ");
  return (
    <section aria-label={texts.label}>
      <Notice
        tone="hold"
        title={order.extends === null ? texts.launch(subdomain, sum) : texts.more(subdomain, sum)}
        action={
          <div className={classes.actions}>
            <Button size="xs" variant="subtle" loading={drop.isPending} onClick={() => drop.mutate()}>
              {texts.drop}
            </Button>
            <Button size="xs" variant="default" component={Link} to={payPath(order)}>
              {texts.pay(sum)}
            </Button>
          </div>
        }
      >
        {what}. {texts.held(dateTime(held_until))}
      </Notice>
    </section>
  );
}
