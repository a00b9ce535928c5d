import { plural } from "@berth/contract";
import { type ListedOrder, searchOrders } from "@berth/contract/console/orders";
import { Button, Skeleton } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { dateTime, money } from "../../format.ts";
import { EmptyState } from "../../ui/display/empty-state.tsx";
import { Tag } from "../../ui/display/status.tsx";
import { Table } from "../../ui/display/table.tsx";
import { callConsole } from "../frame/call-console.ts";
import list from "../frame/list.module.css";
import { NotRead } from "../frame/not-read.tsx";
import { Owner } from "../frame/owner.tsx";
import { useUnit } from "../frame/use-unit.ts";
import { orderStatus } from "./order-status.ts";

/** Orders that were found, newest first, a page at a time. */
export function OrderList({ text }: { readonly text: string }) {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ["orders", text],
    queryFn: ({ pageParam, signal }) =>
      callConsole(searchOrders, { params: {}, body: { text, before: pageParam } }, signal),
    initialPageParam: "",
    getNextPageParam: ({ orders, more }) => (more ? orders.at(-1)?.id : undefined),
  });
  const orders = data?.pages.flatMap((page) => page.orders);
  return (
    <section aria-label="Orders">
      <h2 className={list.title}>Orders</h2>
      {error && <NotRead what="The orders" error={error} onAgain={refetch} />}
      {!orders && !error && <Skeleton height={320} radius="lg" role="status" aria-label="Reading the orders" />}
      {orders?.length === 0 && (
        <EmptyState title={text === "" ? "Nobody has ordered yet" : `No order for ${text}`} bare />
      )}
      {orders && orders.length > 0 && <OrderTable orders={orders} />}
      {hasNextPage && (
        <p className={list.more}>
          <Button variant="default" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
            Show older orders
          </Button>
        </p>
      )}
    </section>
  );
}

const columns = ["Environment", "Ordered", "Owner", "Bought", "State", { label: "Amount", end: true }];

function OrderTable({ orders }: { readonly orders: readonly ListedOrder[] }) {
  const { one } = useUnit();
  return (
    <Table className={list.rows} columns={columns}>
      {orders.map(({ id, subdomain, created_at, email, user_id, status, currency, ...bought }) => (
        <tr key={id}>
          <th scope="row" data-label="Environment">
            <Link className="link target" to={`/orders/${id}`} aria-label={`${subdomain}, order ${id}`}>
              {subdomain}
            </Link>
          </th>
          <td data-label="Ordered">{dateTime(created_at)}</td>
          <td data-label="Owner">
            <Owner id={user_id} email={email} />
          </td>
          <td data-label="Bought">
            {plural(bought.duration_hours, "hour")}, {plural(bought.gpu_count, one)}
            <small>{bought.container_type}</small>
          </td>
          <td data-label="State">
            <Tag tone={orderStatus[status].tone}>{orderStatus[status].label}</Tag>
          </td>
          <td data-label="Amount" data-end>
            {money(bought.amount_minor, currency)}
            {bought.refund_minor > 0 && <small>{money(bought.refund_minor, currency)} refunded</small>}
          </td>
        </tr>
      ))}
    </Table>
  );
}
