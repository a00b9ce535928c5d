import { useQuery } from "@tanstack/react-query";
import { matchPath, useLocation } from "react-router";
import { environmentQuery, orderQuery } from "../api/queries.ts";
import { useBrand } from "../api/use-brand.ts";
import { titleOf } from "./header.tsx";

/** The document's title, with the number of an order or the name of an environment once loaded. */
export function useTitle(): string {
  const { pathname } = useLocation();
  const orderId = matchPath("/billing/orders/:orderId", pathname)?.params.orderId;
  const { data: order } = useQuery({ ...orderQuery(orderId ?? ""), enabled: false });
  const environmentId = matchPath("/environments/:id", pathname)?.params.id;
  const { data: environment } = useQuery({ ...environmentQuery(environmentId ?? ""), enabled: false });
  const number = orderId === undefined ? undefined : order?.references.invoice;
  const name = number ?? environment?.subdomain;
  return `${titleOf(pathname)}${name ? ` ${name}` : ""} · ${useBrand().name}`;
}
