import { type ContainerRequest, notOffered } from "@berth/contract";
import { readStorage, writeStorage } from "../../api/storage.ts";
import { catalogue, prices } from "../../catalogue.ts";

/** The choices so far. */
export interface Draft {
  readonly type: string;
  readonly gpus: number;
  readonly hours: number;
  readonly currency: string;
  readonly subdomain: string;
}

/** Spec 4.4; where the operator does not sell it, the first that is sold. */
export const firstDraft: Draft = {
  type: offered(
    catalogue.types.map(({ id }) => id),
    "jupyter",
  ),
  gpus: offered(
    prices().rows.map(({ gpus }) => gpus),
    2,
  ),
  hours: offered(prices().hours, 1),
  currency: "USD",
  subdomain: "",
};

const currencyKey = "launch-currency";

/** The first choices, in the currency of this browser's last order if it is still sold (G368). */
export function startingDraft(): Draft {
  const last = readStorage(currencyKey);
  return {
    ...firstDraft,
    currency: prices().currencies.find(({ code }) => code === last)?.code ?? firstDraft.currency,
  };
}

export function keepCurrency(currency: string): void {
  writeStorage(currencyKey, currency);
}

export type Step = 1 | 2 | 3 | 4;

/** An earlier draft, and its step (G56). */
export interface LeftDraft {
  readonly draft: Draft;
  readonly step: Step;
}

const storageKey = "launch-draft";
/** Of the last launch of this tab. */
const choicesKey = "launch-choices";

/** Accessed at each use, because a browser that refuses storage throws on access. */
export const tabStorage: Pick<Storage, "getItem" | "setItem" | "removeItem"> = {
  getItem: (key) => sessionStorage.getItem(key),
  setItem: (key, value) => sessionStorage.setItem(key, value),
  removeItem: (key) => sessionStorage.removeItem(key),
};

/** The earlier draft of this tab, if there is a valid one. */
export function readLeftDraft(storage: Pick<Storage, "getItem">): LeftDraft | undefined {
  return readLeft(storage, storageKey);
}

export function keepDraft(storage: Pick<Storage, "setItem" | "removeItem">, left: LeftDraft): void {
  try {
    if (left.step === 1 && isSame(left.draft, startingDraft())) storage.removeItem(storageKey);
    else storage.setItem(storageKey, JSON.stringify(left));
  } catch {
    // Without storage the draft lasts as long as the page.
  }
}

export function dropDraft(storage: Pick<Storage, "removeItem">): void {
  try {
    storage.removeItem(storageKey);
  } catch {
    // Nothing is stored then.
  }
}

/** The choices of a launch, without its name: the browser's Back leads to them, not to the defaults (G302, G336). */
export function keepChoices(storage: Pick<Storage, "setItem">, draft: Draft): void {
  try {
    storage.setItem(choicesKey, JSON.stringify({ draft: { ...draft, subdomain: "" }, step: 3 } satisfies LeftDraft));
  } catch {
    // The defaults stand there then.
  }
}

export function readChoices(storage: Pick<Storage, "getItem">): Draft | undefined {
  return readLeft(storage, choicesKey)?.draft;
}

/** The step in the URL; step 4 needs a name. */
export function stepOf(text: string | null, draft: Draft): Step {
  const step = steps.find((known) => String(known) === text) ?? 1;
  return step === 4 && draft.subdomain.trim() === "" ? 3 : step;
}

export function requestOf(draft: Draft, userId: string): ContainerRequest {
  return {
    user_id: userId,
    container_type: draft.type,
    subdomain: draft.subdomain.trim(),
    gpu_count: draft.gpus,
    duration: draft.hours,
  };
}

const steps: readonly Step[] = [1, 2, 3, 4];

function readLeft(storage: Pick<Storage, "getItem">, key: string): LeftDraft | undefined {
  try {
    return parseLeft(JSON.parse(storage.getItem(key) ?? "null"));
  } catch {
    return undefined;
  }
}

/** The draft of a link that has every choice, such as that to an unpaid order (G333). */
export function readLinked(params: URLSearchParams): Draft | undefined {
  const [type, currency, subdomain] = ["type", "currency", "subdomain"].map((name) => params.get(name));
  const [gpus, hours] = ["gpus", "hours"].map((name) => Number(params.get(name)));
  return parseLeft({ step: 4, draft: { type, gpus, hours, currency, subdomain } })?.draft;
}

/** The hours to add that a link names, such as that to an unpaid order (G333); else the defaults. */
export function linkedExtension(params: URLSearchParams): Pick<Draft, "hours" | "currency"> {
  const { hours, currencies } = prices();
  const codes = currencies.map(({ code }) => code);
  return {
    hours: hours.find((each) => String(each) === params.get("hours")) ?? firstDraft.hours,
    currency: codes.find((code) => code === params.get("currency")) ?? startingDraft().currency,
  };
}

function parseLeft(value: unknown): LeftDraft | undefined {
  const left = value as { readonly step?: unknown; readonly draft?: Partial<Record<keyof Draft, unknown>> } | null;
  const step = steps.find((known) => known === left?.step);
  if (!step || !left?.draft) return undefined;
  const { type, gpus, hours, currency, subdomain } = left.draft;
  if (typeof type !== "string" || typeof currency !== "string" || typeof subdomain !== "string") return undefined;
  if (typeof gpus !== "number" || typeof hours !== "number") return undefined;
  const wanted = { container_type: type, gpu_count: gpus, duration: hours, currency };
  if (notOffered(catalogue, prices(), wanted)) return undefined;
  return { step, draft: { type, gpus, hours, currency, subdomain: subdomain.slice(0, 64) } };
}

function offered<T>(sold: readonly T[], wanted: T): T {
  return sold.includes(wanted) ? wanted : (sold[0] ?? wanted);
}

function isSame(a: Draft, b: Draft): boolean {
  return (Object.keys(a) as (keyof Draft)[]).every((key) => a[key] === b[key]);
}
