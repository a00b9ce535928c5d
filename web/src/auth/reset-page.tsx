import { Button } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import { isRefusal, verifyResetCode } from "../api/identity-client.ts";
import { readConfig } from "../api/product-config.ts";
import { useBrand } from "../api/use-brand.ts";
import { commonTexts } from "../content/common-texts.ts";
import { AuthFrame } from "./auth-frame.tsx";
import classes from "./auth-page.module.css";
import { invalidLink } from "./failure-text.ts";
import { FormError } from "./form-error.tsx";
import { ResetForm } from "./reset-form.tsx";

/** Sets a new password with the code of the mailed link (spec 2.6, 4.8 and 8.8, G48, G78). */
export function ResetPage() {
  const [search] = useSearchParams();
  const code = search.get("oobCode") ?? "";
  useDocumentTitle(`Reset password · ${useBrand().name}`);
  const check = useQuery({
    queryKey: ["reset-code", code],
    queryFn: async () => verifyResetCode((await readConfig()).identity, code),
    enabled: code !== "",
    retry: false,
    gcTime: 0,
    // Checked only once, because this page's own submit uses the code up.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  if (code === "") return <InvalidLink>No reset link or token found!</InvalidLink>;
  if (isRefusal(check.error)) return <InvalidLink>{invalidLink}</InvalidLink>;
  return (
    <AuthFrame title="Choose a new password">
      <ResetForm code={code} owner={check.data?.email} />
      {check.error && (
        <div className={classes.again}>
          <FormError text={commonTexts.resetCheckFailed} />
          <Button variant="default" loading={check.isFetching} onClick={() => void check.refetch()}>
            {commonTexts.tryAgain}
          </Button>
        </div>
      )}
    </AuthFrame>
  );
}

function InvalidLink({ children }: { children: string }) {
  return (
    <AuthFrame title="Invalid Reset Link">
      <p role="alert" className={classes.lead}>
        {children}
      </p>
      <Button component={Link} to="/forgot-password" size="md" fullWidth>
        Request New Reset Link
      </Button>
      <p className={classes.ways}>
        <Link to="/login">Back to login</Link>
      </p>
    </AuthFrame>
  );
}
