/** The payment dialog's result (spec 3.7). */
export interface PaymentProof {
  readonly razorpay_order_id: string;
  readonly razorpay_payment_id: string;
  readonly razorpay_signature: string;
}

interface Dialog {
  open(): void;
  close(): void;
}

/** The options of the provider's dialog that we use; the embedded provider takes the same (docs/internals/money.md). */
export interface CheckoutOptions {
  readonly key: string;
  /** Minor units. */
  readonly amount: number;
  readonly currency: string;
  readonly name: string;
  readonly description: string;
  readonly order_id: string;
  readonly prefill: { readonly name?: string; readonly email?: string; readonly contact?: string };
  readonly theme: { readonly color: string };
  /** Seconds; less than the hold (docs/internals/money.md). */
  readonly timeout: number;
}

type Checkout = new (
  options: CheckoutOptions & {
    readonly handler: (proof: PaymentProof) => void;
    readonly modal: { readonly ondismiss: () => void };
  },
) => Dialog;

declare global {
  interface Window {
    Razorpay?: Checkout;
  }
}

let loading: Promise<void> | undefined;

/** Loads the provider's script once; the next Launch retries after a failure. */
export function loadCheckout(scriptUrl: string): Promise<void> {
  if (window.Razorpay) return Promise.resolve();
  loading ??= addScript(scriptUrl).catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

/**
 * Opens the dialog. Returns the proof of a payment, or undefined if the customer dismissed it. Aborting closes the dialog.
 * @throws the dialog's error for invalid options
 */
export function openCheckout(options: CheckoutOptions, signal: AbortSignal): Promise<PaymentProof | undefined> {
  return new Promise((resolve, reject) => {
    if (!window.Razorpay) return reject(new Error("The payment dialog could not be opened."));
    const dialog = new window.Razorpay({
      ...options,
      handler: resolve,
      modal: { ondismiss: () => resolve(undefined) },
    });
    signal.addEventListener("abort", () => dialog.close(), { once: true });
    dialog.open();
  });
}

function addScript(source: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    const failed = () => {
      script.remove();
      reject(new Error("The payment dialog could not be loaded. Nothing was charged."));
    };
    script.src = source;
    script.async = true;
    script.onerror = failed;
    script.onload = () => (window.Razorpay ? resolve() : failed());
    document.head.append(script);
  });
}
