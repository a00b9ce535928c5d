import { Button } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import { confirmAddress, isRefusal } from "../api/identity-client.ts";
import { readConfig } from "../api/product-config.ts";
import { useBrand } from "../api/use-brand.ts";
import { commonTexts } from "../content/common-texts.ts";
import { AuthFrame } from "./auth-frame.tsx";
import classes from "./auth-page.module.css";
import { FormError } from "./form-error.tsx";

/** Confirms an address with the code of the mailed link (G52). Needs a click, because mail scanners open links too. */
export function VerifyPage() {
  const [search] = useSearchParams();
  const code = search.get("oobCode") ?? "";
  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: async () => confirmAddress((await readConfig()).identity, code),
  });
  useDocumentTitle(`Confirm your email · ${useBrand().name}`);
  if (code === "" || isRefusal(error))
    return (
      <AuthFrame title="This link does not hold">
        <p role="alert" className={classes.lead}>
          It was used, replaced by a newer one, or is older than 24 hours. A new one is sent from where you launch.
        </p>
        <Button component={Link} to="/environments/create" size="md" fullWidth>
          Create New Environment
        </Button>
      </AuthFrame>
    );
  if (isSuccess)
    return (
      <AuthFrame title="Your email is confirmed">
        <p role="status" className={classes.lead}>
          Receipts and notices reach you there. You can go on where you were.
        </p>
        <Button component={Link} to="/environments/create" size="md" fullWidth>
          Create New Environment
        </Button>
      </AuthFrame>
    );
  return (
    <AuthFrame title="Confirm your email">
      <p className={classes.lead}>One press, and receipts and notices about your money reach you.</p>
      {error && <FormError text={commonTexts.resetCheckFailed} />}
      <Button size="md" fullWidth loading={isPending} onClick={() => mutate()}>
        Confirm this address
      </Button>
    </AuthFrame>
  );
}
