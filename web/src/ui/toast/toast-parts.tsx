import { CircleAlert, CircleCheck, Info, LoaderCircle, TriangleAlert } from "lucide-react";
import classes from "./toast.module.css";

/** Spec 3.9. */
export type ToastType = keyof typeof icons;

const icons = {
  success: CircleCheck,
  error: CircleAlert,
  warning: TriangleAlert,
  info: Info,
  loading: LoaderCircle,
} as const;

/** Only the icon is colored. */
export function ToastIcon({ type }: { type: ToastType }) {
  const Icon = icons[type];
  return <Icon size={16} strokeWidth={1.8} aria-hidden="true" className={classes["glyph"]} data-type={type} />;
}

interface Props {
  readonly message: string;
  readonly action?: { readonly label: string; readonly onClick: () => void } | undefined;
}

export function ToastText({ message, action }: Props) {
  return (
    <span className={classes["text"]}>
      <span>{message}</span>
      {action && (
        <button type="button" className={classes["action"]} onClick={action.onClick}>
          {action.label}
        </button>
      )}
    </span>
  );
}
