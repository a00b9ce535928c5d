import { notifications } from "@mantine/notifications";
import { createElement } from "react";
import classes from "./toast.module.css";
import { ToastIcon, ToastText, type ToastType } from "./toast-parts.tsx";

export interface ToastOptions {
  readonly title?: string;
  /** Milliseconds on screen (spec 9.2): 5000 by default, errors 7000, loading 2000. */
  readonly duration?: number;
  readonly action?: { readonly label: string; readonly onClick: () => void };
}

/** Every function returns the toast's id. */
export const toast = {
  success: (message: string, options?: ToastOptions) => show("success", message, options),
  error: (message: string, options?: ToastOptions) => show("error", message, options),
  warning: (message: string, options?: ToastOptions) => show("warning", message, options),
  info: (message: string, options?: ToastOptions) => show("info", message, options),
  loading: (message: string, options?: ToastOptions) => show("loading", message, options),
  close: (id: string) => {
    notifications.hide(id);
  },
};

const durationMs: Readonly<Record<ToastType, number>> = {
  success: 5000,
  error: 7000,
  warning: 5000,
  info: 5000,
  loading: 2000,
};

function show(type: ToastType, message: string, options: ToastOptions = {}): string {
  const id = `toast-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
  const action = options.action && {
    label: options.action.label,
    onClick: () => {
      notifications.hide(id);
      options.action?.onClick();
    },
  };
  return notifications.show({
    id,
    title: options.title,
    message: createElement(ToastText, { message, action }),
    icon: createElement(ToastIcon, { type }),
    autoClose: options.duration ?? durationMs[type],
    withBorder: true,
    classNames: { root: classes["toast"] ?? "", icon: classes["icon"] ?? "" },
    closeButtonProps: { "aria-label": "Close" },
    // Only errors interrupt a screen reader.
    role: type === "error" ? "alert" : "status",
    "data-toast": type,
  });
}
