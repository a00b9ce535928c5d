import { MantineProvider } from "@mantine/core";
import { renderToString } from "react-dom/server";
import { expect, test } from "vitest";
import { BillingPage } from "./billing-page.tsx";

test("without a sign-in the page shows why it is empty (spec 8.5)", () => {
  const page = renderToString(
    <MantineProvider>
      <BillingPage />
    </MantineProvider>,
  );
  expect(page).toContain("Unable to load billing data");
  expect(page).toContain("User not authenticated");
});
