import {
  billing,
  capacity,
  credits,
  environmentDetail,
  environmentSamples,
  environmentSsh,
  linkedAccounts,
  listFiles,
  listNotifications,
  listPorts,
  listSignIns,
  listSshKeys,
  type Order,
  orderDetail,
  passkeys,
  productStatus,
  profile,
  readQueue,
  type SampleSpan,
  type Status,
  secondFactor,
  settings,
  supportCatalog,
  supportContent,
  unpaidOrders,
  validate,
} from "@berth/contract";
import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";
import { completeBilling, completeProfile, completeSettings } from "./complete-reply.ts";
import { readConfig } from "./product-config.ts";

/** Keys that more than one screen reads or invalidates (CONTRIBUTING 10). */
export const keys = {
  capacity: ["capacity"],
  status: ["status"],
  queue: (userId: string) => ["place", userId],
  profile: (userId: string) => ["profile", userId],
  billing: (userId: string) => ["billing", userId],
  credits: (userId: string) => ["credits", userId],
  environment: (id: string) => ["environment", id],
  ports: (id: string) => ["ports", id],
  ssh: (id: string, status: Status) => ["ssh", id, status],
  samples: (id: string, span: SampleSpan) => ["samples", id, span],
  files: (userId: string) => ["files", userId],
  unpaidOrders: (userId: string) => ["unpaid-orders", userId],
  orders: ["order"],
  order: (id: string) => ["order", id],
  notifications: (userId: string) => ["notifications", userId],
  settings: (userId: string) => ["settings", userId],
  secondFactor: (userId: string) => ["second-factor", userId],
  linkedAccounts: (userId: string) => ["linked-accounts", userId],
  passkeys: (userId: string) => ["passkeys", userId],
  signIns: (userId: string) => ["sign-ins", userId],
  sshKeys: (userId: string) => ["ssh-keys", userId],
  supportCatalog: ["support-catalog"],
  validate: (userId: string) => ["validate", userId],
} as const;

export const capacityQuery = queryOptions({
  queryKey: keys.capacity,
  queryFn: ({ signal }) => call(capacity, { params: {}, body: {} }, { signal }),
  refetchInterval: 30_000,
});

export const statusQuery = queryOptions({
  queryKey: keys.status,
  queryFn: ({ signal }) => call(productStatus, { params: {}, body: {} }, { signal }),
  refetchInterval: 15_000,
});

/** Polled, because a change of others' positions sends no event to this user. */
const placeEveryMs = 15_000;

export const queueQuery = (userId: string) =>
  queryOptions({
    queryKey: keys.queue(userId),
    queryFn: async ({ signal }) => (await call(readQueue, { params: {}, body: {} }, { signal })).place,
    refetchInterval: ({ state: { data } }) => (data ? placeEveryMs : false),
  });

export const profileQuery = (userId: string) =>
  queryOptions({
    queryKey: keys.profile(userId),
    queryFn: async ({ signal }) =>
      completeProfile(await call(profile, { params: { user_id: userId }, body: {} }, { signal })),
  });

export const billingQuery = (userId: string) =>
  queryOptions({
    queryKey: keys.billing(userId),
    queryFn: async ({ signal }) =>
      completeBilling(await call(billing, { params: { user_id: userId }, body: {} }, { signal })),
  });

/** Oldest first. */
export const creditsQuery = (userId: string) =>
  queryOptions({
    queryKey: keys.credits(userId),
    queryFn: async ({ signal }) => (await call(credits, { params: {}, body: {} }, { signal })).credits,
  });

/** Empty where the server has no such call (G303). */
export const unpaidOrdersQuery = (userId: string) =>
  queryOptions({
    queryKey: keys.unpaidOrders(userId),
    queryFn: async ({ signal }) => (await call(unpaidOrders, { params: {}, body: {} }, { signal })).orders,
  });

/** Polled, because activity inside an environment sends no event, and the page shows idle time. */
const idleEveryMs = 30_000;

export const environmentQuery = (id: string) =>
  queryOptions({
    queryKey: keys.environment(id),
    queryFn: async ({ signal }) =>
      (await call(environmentDetail, { params: { id }, body: {} }, { signal })).environment,
    refetchInterval: ({ state: { data } }) =>
      data?.status === "active" && data.idle_stop.minutes !== null ? idleEveryMs : false,
  });

/** The server's sampling interval. */
const sampledEveryMs = 15_000;

/** `live`: it is running, so more samples will follow. */
export const samplesQuery = (id: string, span: SampleSpan, live: boolean) =>
  queryOptions({
    queryKey: keys.samples(id, span),
    queryFn: ({ signal }) => call(environmentSamples, { params: { id }, body: {}, query: { span } }, { signal }),
    refetchInterval: live ? sampledEveryMs : false,
    placeholderData: (before) => (before?.span === span ? before : undefined),
  });

/** Polled while it is shown, because a program that begins to listen sends no event. */
const portsEveryMs = 5000;

export const portsQuery = (id: string) =>
  queryOptions({
    queryKey: keys.ports(id),
    queryFn: async ({ signal }) => (await call(listPorts, { params: { id }, body: {} }, { signal })).ports,
    refetchInterval: portsEveryMs,
  });

/** Asked again after each change of the status, which decides whether it answers. */
export const environmentSshQuery = (id: string, status: Status) =>
  queryOptions({
    queryKey: keys.ssh(id, status),
    queryFn: ({ signal }) => call(environmentSsh, { params: { id }, body: {} }, { signal }),
  });

export const filesQuery = (userId: string) =>
  queryOptions({
    queryKey: keys.files(userId),
    queryFn: ({ signal }) => call(listFiles, { params: {}, body: {} }, { signal }),
  });

/** Polled too, because steps at the bank send no event. */
const orderEveryMs = 30_000;
const moving: ReadonlySet<Order["money"]["place"]> = new Set(["being_checked", "held", "refund_started"]);

export const orderQuery = (id: string) =>
  queryOptions({
    queryKey: keys.order(id),
    queryFn: async ({ signal }) => (await call(orderDetail, { params: { order_id: id }, body: {} }, { signal })).order,
    refetchInterval: ({ state: { data } }) => (data && moving.has(data.money.place) ? orderEveryMs : false),
  });

export const notificationsQuery = (userId: string) =>
  queryOptions({
    queryKey: keys.notifications(userId),
    queryFn: ({ signal }) => call(listNotifications, { params: {}, body: {} }, { signal }),
  });

export const settingsQuery = (userId: string) =>
  queryOptions({
    queryKey: keys.settings(userId),
    queryFn: async ({ signal }) =>
      completeSettings(await call(settings, { params: { user_id: userId }, body: {} }, { signal })),
  });

export const secondFactorQuery = (userId: string) =>
  queryOptions({
    queryKey: keys.secondFactor(userId),
    queryFn: ({ signal }) => call(secondFactor, { params: { user_id: userId }, body: {} }, { signal }),
  });

export const linkedAccountsQuery = (userId: string) =>
  queryOptions({
    queryKey: keys.linkedAccounts(userId),
    queryFn: ({ signal }) => call(linkedAccounts, { params: { user_id: userId }, body: {} }, { signal }),
  });

export const passkeysQuery = (userId: string) =>
  queryOptions({
    queryKey: keys.passkeys(userId),
    queryFn: ({ signal }) => call(passkeys, { params: { user_id: userId }, body: {} }, { signal }),
  });

export const signInsQuery = (userId: string) =>
  queryOptions({
    queryKey: keys.signIns(userId),
    queryFn: async ({ signal }) =>
      (await call(listSignIns, { params: { user_id: userId }, body: {} }, { signal })).sign_ins,
  });

export const sshKeysQuery = (userId: string) =>
  queryOptions({
    queryKey: keys.sshKeys(userId),
    queryFn: async ({ signal }) =>
      (await call(listSshKeys, { params: { user_id: userId }, body: {} }, { signal })).ssh_keys,
  });

/** Starts with built-in texts, also without the server (G59); the server's replace them. */
export const supportCatalogQuery = queryOptions({
  queryKey: keys.supportCatalog,
  queryFn: ({ signal }) => call(supportCatalog, { params: {}, body: {} }, { signal }),
  placeholderData: { status: "success", ...supportContent },
  staleTime: Number.POSITIVE_INFINITY,
});

/**
 * Runs once per page load; a token that expires later gets a 401 at the next call (G45). Waits for the product's
 * configuration to avoid layout shifts, but does not fail without it.
 */
export const validateQuery = (userId: string) =>
  queryOptions({
    queryKey: keys.validate(userId),
    queryFn: async ({ signal }) => {
      const settings = readConfig().catch(() => undefined);
      const answer = await call(validate, { params: {}, body: {} }, { signal });
      await settings;
      return answer;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
