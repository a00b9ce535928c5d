import { Button } from "@mantine/core";
import { signInProviders } from "../api/page-settings.ts";
import classes from "./provider-buttons.module.css";
import { returnPath } from "./return-path.ts";

/** Sign-in by other services, where the operator offers any (G416). */
export function ProviderButtons({ from }: { readonly from: string | null }) {
  if (signInProviders.length === 0) return null;
  return (
    <div className={classes.providers}>
      <p className={classes.or}>or</p>
      {signInProviders.map(({ key, name }) => (
        <Button
          key={key}
          component="a"
          href={`/auth/providers/${key}/start?return_to=${encodeURIComponent(returnPath(from))}`}
          variant="default"
          size="md"
          fullWidth
        >
          Continue with {name}
        </Button>
      ))}
    </div>
  );
}
