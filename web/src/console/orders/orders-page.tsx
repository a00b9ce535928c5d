import { readOpenDisputes, readRefundRequests } from "@berth/contract/console/orders";
import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useSearchParams } from "react-router";
import { callConsole } from "../frame/call-console.ts";
import list from "../frame/list.module.css";
import { NotRead } from "../frame/not-read.tsx";
import { SearchForm } from "../frame/search-form.tsx";
import { DisputeTable } from "./dispute-table.tsx";
import { OrderList } from "./order-list.tsx";
import { RequestTable } from "./request-table.tsx";

/** Refunds that wait for a decision, then every order, newest first; the search is in the address. */
export function OrdersPage() {
  const [parameters, setParameters] = useSearchParams();
  const text = parameters.get("find") ?? "";
  return (
    <div className={list.page}>
      <SearchForm
        label="Id, receipt, environment or owner's address"
        text={text}
        onSearch={(find) => setParameters(find === "" ? {} : { find })}
      />
      {text === "" && <Requests />}
      {text === "" && <Disputes />}
      <OrderList key={text} text={text} />
    </div>
  );
}

function Requests() {
  const { data, error, refetch } = useQuery({
    queryKey: ["refund-requests"],
    queryFn: ({ signal }) => callConsole(readRefundRequests, { params: {}, body: {} }, signal),
  });
  return (
    <section aria-label="Refund requests">
      <h2 className={list.title}>Refund requests</h2>
      {error && <NotRead what="The refund requests" error={error} onAgain={refetch} />}
      {!data && !error && <Skeleton height={64} radius="lg" role="status" aria-label="Reading the refund requests" />}
      {data?.requests.length === 0 && <p className={list.hint}>Nobody waits for a decision.</p>}
      {data && data.requests.length > 0 && <RequestTable requests={data.requests} />}
    </section>
  );
}

/** Nothing where there are none, as on most days. */
function Disputes() {
  const { data, error, refetch } = useQuery({
    queryKey: ["disputes"],
    queryFn: ({ signal }) => callConsole(readOpenDisputes, { params: {}, body: {} }, signal),
  });
  if (error) return <NotRead what="The disputes" error={error} onAgain={refetch} />;
  if (!data || data.disputes.length === 0) return null;
  return (
    <section aria-label="Disputes">
      <h2 className={list.title}>Disputes</h2>
      <p className={list.hint}>They are answered in the payment provider's dashboard.</p>
      <DisputeTable disputes={data.disputes} />
    </section>
  );
}
