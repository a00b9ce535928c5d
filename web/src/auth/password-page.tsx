import { useDocumentTitle } from "@mantine/hooks";
import { Link } from "react-router";
import { useBrand } from "../api/brand.ts";
import { notices } from "../content/notices.ts";
import { AuthFrame } from "./auth-frame.tsx";

/** Forgot and reset: honest until they are built (G98). */
export function PasswordPage() {
  const brand = useBrand();
  useDocumentTitle(`Reset password · ${brand.name}`);
  return (
    <AuthFrame title="Reset password">
      <p>
        {notices.notBuilt} Write to{" "}
        <a className="link" href={`mailto:${brand.email}`}>
          {brand.email}
        </a>{" "}
        from the address of your account.
      </p>
      <p>
        <Link className="link" to="/login">
          Back to login
        </Link>
      </p>
    </AuthFrame>
  );
}
