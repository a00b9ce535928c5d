// Defines window.Razorpay with the provider's contract, so that no other browser code knows which gateway it has.

{
  const script = document.currentScript;
  const pageUrl = new URL("checkout", script.src);

  class Razorpay {
    #options;
    #listeners = new Map();
    #dialog;
    #timer;

    constructor(options) {
      if (!options || typeof options !== "object") throw new TypeError("Razorpay: options are missing");
      for (const name of ["key", "order_id"])
        if (typeof options[name] !== "string" || options[name] === "")
          throw new TypeError(`Razorpay: ${name} is missing`);
      if (options.handler !== undefined && typeof options.handler !== "function")
        throw new TypeError("Razorpay: handler is not a function");
      this.#options = {
        ...options,
        modal: { escape: true, backdropclose: false, confirm_close: false, ...options.modal },
      };
    }

    on(event, listener) {
      this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener]);
    }

    open() {
      if (this.#dialog) return;
      const frame = document.createElement("iframe");
      frame.title = "Checkout";
      frame.src = this.#address();
      Object.assign(frame.style, { width: "100%", height: "100%", border: "0", display: "block" });
      const dialog = document.createElement("dialog");
      dialog.setAttribute("aria-label", "Checkout");
      Object.assign(dialog.style, {
        width: "100vw",
        height: "100dvh",
        maxWidth: "100vw",
        maxHeight: "100dvh",
        margin: "0",
        padding: "0",
        border: "0",
        overflow: "hidden",
        background: "transparent",
      });
      dialog.append(frame);
      dialog.addEventListener("cancel", (event) => {
        event.preventDefault();
        if (this.#options.modal.escape) this.#dismiss();
      });
      document.body.append(dialog);
      this.#dialog = dialog;
      window.addEventListener("message", this.#hear);
      dialog.showModal();
      if (this.#options.timeout > 0) this.#timer = setTimeout(() => this.#dismiss(true), this.#options.timeout * 1000);
    }

    close() {
      if (!this.#dialog) return;
      clearTimeout(this.#timer);
      window.removeEventListener("message", this.#hear);
      this.#dialog.close();
      this.#dialog.remove();
      this.#dialog = undefined;
    }

    #address() {
      const { order_id: orderId, name = "", description = "", timeout } = this.#options;
      const scheme = getComputedStyle(document.documentElement).colorScheme;
      const url = new URL(pageUrl);
      url.search = new URLSearchParams({ order_id: orderId, name, description, scheme });
      if (timeout > 0) url.hash = String(Date.now() + timeout * 1000);
      return url.href;
    }

    // Only the frame that this object opened, and only from the gateway's own origin.
    #hear = (event) => {
      const frame = this.#dialog?.firstElementChild;
      if (!frame || event.source !== frame.contentWindow || event.origin !== pageUrl.origin) return;
      const { checkout, event: kind, response, error } = event.data ?? {};
      if (checkout === this.#options.order_id || checkout === "") this.#act(kind, response, error);
    };

    #act(kind, response, error) {
      const { escape: byEscape, backdropclose: byBackdrop } = this.#options.modal;
      if (kind === "paid" && isProof(response, this.#options.order_id)) this.#paid(response);
      if (kind === "failed" && typeof error?.description === "string") this.#failed(error);
      if (kind === "close" || (kind === "escape" && byEscape) || (kind === "backdrop" && byBackdrop)) this.#dismiss();
    }

    #paid(response) {
      this.close();
      setTimeout(() => this.#options.handler?.(response), 200);
    }

    #failed(error) {
      for (const listener of this.#listeners.get("payment.failed") ?? []) listener({ error });
      const { retry } = this.#options;
      if (retry === false || retry?.enabled === false) this.#dismiss(true);
    }

    #dismiss(unasked = false) {
      if (!this.#dialog) return;
      const { confirm_close: confirms, ondismiss } = this.#options.modal;
      if (confirms && !unasked && !window.confirm("Leave the payment?")) return;
      this.close();
      ondismiss?.();
    }
  }

  function isProof(response, orderId) {
    return (
      response?.razorpay_order_id === orderId &&
      typeof response.razorpay_payment_id === "string" &&
      typeof response.razorpay_signature === "string"
    );
  }

  window.Razorpay = Razorpay;
}
