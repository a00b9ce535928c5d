import { Button } from "@mantine/core";
import { Link } from "react-router";
import { useSession } from "../api/session.ts";
import { PlainPage } from "./plain-page.tsx";

export function NotFoundPage() {
  const session = useSession();
  return (
    <PlainPage
      title="There is nothing here"
      action={
        <Button component={Link} to={session ? "/dashboard" : "/"}>
          {session ? "Go to Dashboard" : "Go to the start page"}
        </Button>
      }
    >
      The address may be mistyped, or what stood here has ended. Your environments and files are not affected.
    </PlainPage>
  );
}
