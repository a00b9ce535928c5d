import type { ProductConfig } from "@berth/contract";
import { ActionIcon } from "@mantine/core";
import { X } from "lucide-react";
import { useState } from "react";
import { useConfig } from "../api/product-config.ts";
import { readStorage, writeStorage } from "../api/storage.ts";
import { date } from "../format.ts";
import { CopyText } from "../ui/controls/copy-text.tsx";
import { Tag } from "../ui/display/status.tsx";
import { useNow } from "../ui/display/use-now.ts";
import classes from "./test-card-notice.module.css";

const dismissedKey = "testCardNoticeDismissed";
/** An international card, which also pays in USD with test keys (G11). */
const card = "5555 5555 5555 4444";

/** Shown in test mode until dismissed (G11). */
export function TestCardNotice() {
  const config = useConfig();
  const [dismissed, setDismissed] = useState(() => readStorage(dismissedKey) === "true");
  const [cvv] = useState(() => String(100 + Math.floor(Math.random() * 900)));
  const now = useNow();
  if (!config || config.payments.mode === "live" || dismissed) return null;
  const dismiss = () => {
    writeStorage(dismissedKey, "true");
    setDismissed(true);
  };
  return (
    <section className={classes.notice} aria-label="Test card">
      <div className={classes.lead}>
        <Tag tone="hold">Test mode</Tag>
        <p>{testModeSentence(config, now)} Pay with this card; no money moves.</p>
      </div>
      <dl>
        <div>
          <dt>Mastercard</dt>
          <dd>
            <CopyText value={card.replaceAll(" ", "")} shown={card} label="card number" />
          </dd>
        </div>
        <div>
          <dt>CVV</dt>
          <dd className="mono">{cvv}</dd>
        </div>
        <div>
          <dt>Expiry</dt>
          <dd>Any future date</dd>
        </div>
      </dl>
      <ActionIcon variant="subtle" size={28} aria-label="Dismiss" onClick={dismiss}>
        <X size={15} aria-hidden="true" />
      </ActionIcon>
    </section>
  );
}

/** Drops the beta after its end (G34). The embedded provider is not called somebody else's (G337). */
export function testModeSentence(
  {
    beta,
    payments,
  }: { readonly beta: ProductConfig["beta"]; readonly payments: Pick<ProductConfig["payments"], "mode"> },
  now: number,
): string {
  const provider = payments.mode === "embedded" ? "this installation's own" : "the";
  const sentence = `payments run in ${provider} payment provider's test mode.`;
  if (Date.parse(beta.endsAt) > now) return `One-month beta until ${date(beta.endsAt)}: ${sentence}`;
  return `P${sentence.slice(1)}`;
}
