/** Spec 3.9. */
export type ToastType = "success" | "error" | "warning" | "info" | "loading";
