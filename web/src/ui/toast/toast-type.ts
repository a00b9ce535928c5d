/** Spec section 3. */
export type ToastType = "success" | "error" | "warning" | "info" | "loading";
