import { Button } from "@mantine/core";
import { Link } from "react-router";
import { useBrand } from "../api/brand.ts";
import { notices } from "../content/notices.ts";
import { Blank, FreeSlots } from "../ui/blank.tsx";

/** A screen of the route table that does not exist yet says so, and is never a dead link (G98). */
export function NotBuiltPage() {
  const brand = useBrand();
  return (
    <Blank
      title={notices.notBuilt}
      picture={<FreeSlots />}
      action={
        <Button component={Link} to="/dashboard" variant="default">
          Go to Dashboard
        </Button>
      }
    >
      Until it is, write to{" "}
      <a className="link" href={`mailto:${brand.email}`}>
        {brand.email}
      </a>
      .
    </Blank>
  );
}
