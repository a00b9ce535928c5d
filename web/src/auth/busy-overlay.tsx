import { Mark } from "../ui/display/logo.tsx";
import classes from "./busy-overlay.module.css";

/** Covers the page during a request that must not be sent twice. */
export function BusyOverlay({ children }: { children: string }) {
  return (
    <div className={classes.overlay} data-overlay>
      <Mark size={40} docking />
      <p role="status">{children}</p>
    </div>
  );
}
