import { Notifications } from "@mantine/notifications";
import classes from "./toaster.module.css";

/**
 * Where toasts appear: top right below the header, three at most, the rest wait (spec 9.2: closing takes 300 ms).
 * The region exists before its first message, or screen readers would not announce that one.
 */
export function Toaster() {
  return (
    <section aria-label="Messages" aria-live="polite" aria-relevant="additions" className={classes.toaster}>
      <Notifications
        position="top-right"
        withinPortal={false}
        containerWidth={360}
        limit={3}
        transitionDuration={300}
        zIndex={400}
      />
    </section>
  );
}
