import { Link } from "react-router";
import { useBrand } from "../../api/use-brand.ts";
import classes from "./logo.module.css";

/** The logo: a quay from above with one berth taken. The block moves in while loading. */
export function Mark({ size = 22, docking = false }: { size?: number; docking?: boolean }) {
  return (
    <svg
      className={classes.mark}
      data-docking={docking || undefined}
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      aria-hidden="true"
    >
      <path
        d="M4 3v13a5 5 0 0 0 5 5h6a5 5 0 0 0 5-5V3"
        stroke="currentColor"
        strokeWidth="2.25"
        strokeLinecap="square"
      />
      <rect className={classes.block} x="9" y="5" width="6" height="11" rx="1.25" />
    </svg>
  );
}

export function Logo() {
  const brand = useBrand();
  return (
    <Link to="/" className={classes.logo} aria-label={`${brand.name} home`}>
      <Mark />
      <span>{brand.name}</span>
    </Link>
  );
}
