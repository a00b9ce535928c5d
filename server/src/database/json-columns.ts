import type { Catalogue } from "@berth/contract";

/** Endpoint of a run, as reported by its driver. */
export type Address = { readonly host: string; readonly port: number } | { readonly socketPath: string };

/** How a cluster that was added as a host is used (G207). */
export interface ClusterOptions {
  /** Labels of its nodes. */
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** Without one: the cluster's default. */
  readonly runtimeClass?: string;
  readonly storageClass?: string;
}

/** Types of the JSON columns, which are written as text. */
export interface JsonColumns {
  "accepted_catalogue.prices": Catalogue["prices"];
  "accepted_catalogue.terms": NonNullable<Catalogue["terms"]>;
  "audit.details": Readonly<Record<string, string | number | boolean | null>>;
  "credit_notes.document": Document;
  "embedded_gateway_orders.notes": Record<string, string>;
  "embedded_gateway_refunds.notes": Record<string, string>;
  "environments.endpoint": Address;
  "identity_key.public_jwk": Record<string, unknown>;
  "hosts.options": ClusterOptions;
  "mining_findings.evidence": { readonly what: string; readonly commands: readonly string[] };
  "processes.settings": Document;
  "receipts.document": Document;
}

/** `CreditNoteDocument`, `ProcessSettings` and `ReceiptDocument` are defined in folders that this one cannot import. */
// biome-ignore lint/suspicious/noExplicitAny: the writer has the type
type Document = any;
