import { Button } from "@mantine/core";
import { signInProviders } from "../api/page-settings.ts";
import { usePasskeysOffered } from "../api/passkeys.ts";
import classes from "./other-ways.module.css";
import { PasskeyLogin } from "./passkey-login.tsx";
import { returnPath } from "./return-path.ts";

interface Props {
  readonly from: string | null;
  readonly isLogin: boolean;
}

/** A passkey (G424), and other services where the operator offers any (G416). */
export function OtherWays({ from, isLogin }: Props) {
  const passkey = usePasskeysOffered() && isLogin;
  if (!passkey && signInProviders.length === 0) return null;
  return (
    <div className={classes.ways}>
      <p className={classes.or}>or</p>
      {passkey && <PasskeyLogin />}
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
