import { Notifications } from "@mantine/notifications";
import classes from "./toaster.module.css";

/**
 * The region of toasts: beside the title, on a phone at the lower edge (G342). Three at most, the rest queue (spec 9.2:
 * closing takes 300 ms).
 * Rendered before the first toast, or screen readers would not announce it.
 */
export function Toaster() {
  return (
    <section aria-label="Messages" aria-live="polite" aria-relevant="additions" className={classes.toaster}>
      <Notifications
        position="top-right"
        withinPortal={false}
        containerWidth="calc(max(340px, 100vw - 700px))"
        classNames={{ root: classes["stack"] ?? "" }}
        limit={3}
        transitionDuration={300}
        zIndex={400}
      />
    </section>
  );
}
