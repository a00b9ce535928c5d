import { Tabs } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useState } from "react";
import { Link, Navigate, useLocation, useNavigate, useSearchParams } from "react-router";
import { signInProviders } from "../api/page-settings.ts";
import { useSession } from "../api/session.ts";
import { useBrand } from "../api/use-brand.ts";
import { commonTexts } from "../content/common-texts.ts";
import { providerFailure } from "../content/provider-failure.ts";
import { Notice } from "../ui/display/notice.tsx";
import { AuthFrame } from "./auth-frame.tsx";
import classes from "./auth-page.module.css";
import { CodeForm } from "./code-form.tsx";
import { LoginForm } from "./login-form.tsx";
import { OtherWays } from "./other-ways.tsx";
import { ProviderReturn, providerCode } from "./provider-return.tsx";
import { returnPath } from "./return-path.ts";
import type { WaitingLogin } from "./sign-in.ts";
import { SignUpForm } from "./sign-up-form.tsx";

/** From the guard. */
export interface AuthState {
  /** The sign-in ended without the user's action. */
  readonly ended?: boolean;
  /** Why a sign-in by another provider did not succeed. */
  readonly failure?: string;
}

/** The landing page's Sign Up links to /login#signup (G54). */
export function AuthPage() {
  const { pathname, hash, state } = useLocation() as { pathname: string; hash: string; state: AuthState | null };
  const [search] = useSearchParams();
  const session = useSession();
  const [tab, setTab] = useState<string>(pathname === "/signup" || hash === "#signup" ? "signup" : "login");
  const signingUp = tab === "signup";
  useDocumentTitle(`${signingUp ? "Sign Up" : "Login"} · ${useBrand().name}`);
  const [waiting, setWaiting] = useState<WaitingLogin>();
  const { code, failure, leave } = useProviderAnswer(state);
  if (session) return <Navigate to={returnPath(search.get("from"))} replace />;
  if (waiting)
    return (
      <AuthFrame title="Enter your code">
        <CodeForm waiting={waiting} onBack={() => setWaiting(undefined)} />
      </AuthFrame>
    );
  if (code !== undefined)
    return (
      <AuthFrame title="Signing you in">
        <ProviderReturn
          key={code}
          code={code}
          onWaiting={(half) => {
            setWaiting(half);
            leave();
          }}
          onFailed={leave}
        />
      </AuthFrame>
    );
  return (
    <AuthFrame
      title={signingUp ? "Create your account" : "Welcome back"}
      foot={
        <>
          By logging in or signing up, you agree to the <Link to="/terms-condition">Terms of Service</Link> and{" "}
          <Link to="/privacy-policy">Privacy Policy</Link>.
        </>
      }
    >
      {state?.ended && (
        <div className={classes.ended}>
          <Notice tone="hold" title={commonTexts.signInEnded} />
        </div>
      )}
      {failure !== undefined && (
        <div className={classes.ended}>
          <Notice tone="fail" title={failure} alert />
        </div>
      )}
      {/* Not kept mounted: switching clears fields and errors (spec 2.4). */}
      <Tabs value={tab} onChange={(next) => setTab(next ?? "login")} keepMounted={false}>
        <Tabs.List grow mb={24} aria-label="Login or sign up">
          <Tabs.Tab value="login">LOGIN</Tabs.Tab>
          <Tabs.Tab value="signup">SIGN UP</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="login">
          <LoginForm onWaiting={setWaiting} />
        </Tabs.Panel>
        <Tabs.Panel value="signup">
          <SignUpForm />
        </Tabs.Panel>
      </Tabs>
      <OtherWays from={search.get("from")} isLogin={tab === "login"} />
    </AuthFrame>
  );
}

/** What a sign-in by another provider left in the address; `leave` removes it. */
function useProviderAnswer(state: AuthState | null) {
  const { hash } = useLocation();
  const [search] = useSearchParams();
  const navigate = useNavigate();
  const error = search.get("error");
  const name = signInProviders.find(({ key }) => key === search.get("provider"))?.name;
  return {
    code: providerCode(hash),
    failure: state?.failure ?? (error === null ? undefined : providerFailure(error, name)),
    leave: (failure?: string) => {
      const from = search.get("from");
      const path = from === null ? "/login" : `/login?from=${encodeURIComponent(from)}`;
      void navigate(path, { replace: true, state: { failure } });
    },
  };
}
