import { Mark } from "../ui/display/logo.tsx";
import classes from "./busy-overlay.module.css";

/** Over the whole page while something is sent that must not be sent twice. */
export function BusyOverlay({ children }: { children: string }) {
  return (
    <div className={classes.overlay} data-overlay>
      <Mark size={40} docking />
      <p role="status">{children}</p>
    </div>
  );
}
