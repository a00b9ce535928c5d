import { Button } from "@mantine/core";
import { ArrowLeft } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { ApiError } from "../../api/api-error.ts";
import { CopyText } from "../controls/copy-text.tsx";
import classes from "./detail-page.module.css";
import { EmptyState, FreeSlots } from "./empty-state.tsx";
import { type Fact, Facts } from "./facts.tsx";

/** The list that the page belongs to. */
interface BackLink {
  readonly to: string;
  readonly label: string;
}

interface Props {
  readonly back: BackLink;
  readonly children: ReactNode;
}

export function DetailPage({ back, children }: Props) {
  return (
    <div className={classes.page}>
      <Link to={back.to} className={classes.back}>
        <ArrowLeft size={14} strokeWidth={1.6} aria-hidden="true" />
        {back.label}
      </Link>
      {children}
    </div>
  );
}

interface NotLoadedProps {
  readonly back: BackLink;
  /** "order" */
  readonly what: string;
  /** Null while loading. */
  readonly error: Error | null;
  readonly loading: ReactNode;
  /** A link to existing ones. */
  readonly where: string;
  /** Why it could not be loaded, and what is unaffected. */
  readonly failed: (error: Error) => string;
  readonly retry: ReactNode;
}

/** Shown while loading, if it does not exist or belongs to another account, and after a failed fetch. */
export function NotLoaded(props: NotLoadedProps) {
  return (
    <DetailPage back={props.back}>
      {props.error ? <NotLoadedReason {...props} error={props.error} /> : props.loading}
    </DetailPage>
  );
}

function NotLoadedReason({ back, what, error, where, failed, retry }: NotLoadedProps & { readonly error: Error }) {
  if (!(error instanceof ApiError && error.status === 404))
    return (
      <EmptyState title={`Unable to load this ${what}`} picture={<FreeSlots failed />} action={retry}>
        {failed(error)}
      </EmptyState>
    );
  const list = (
    <Button component={Link} to={back.to}>
      {back.label}
    </Button>
  );
  return (
    <EmptyState title={`There is no such ${what}`} picture={<FreeSlots />} action={list}>
      The address may be mistyped, or the {what} is another account's. {where}
    </EmptyState>
  );
}

/** Identifiers for support, a bank or a refund (G70); in the grid area `references` of its page. */
export function References({ facts }: { readonly facts: Fact[] }) {
  return (
    <section className={classes.references} aria-labelledby="references-title">
      <h2 id="references-title" className="section-title">
        References
      </h2>
      <Facts wide facts={facts} />
    </section>
  );
}

/** A list of values to copy; "N/A" for none. */
export function Copies({ values, label }: { readonly values: readonly (string | null)[]; readonly label: string }) {
  const given = values.filter((value) => value !== null);
  if (given.length === 0) return "N/A";
  return (
    <span className={classes.stack}>
      {given.map((value) => (
        <CopyText key={value} value={value} label={label} />
      ))}
    </span>
  );
}
