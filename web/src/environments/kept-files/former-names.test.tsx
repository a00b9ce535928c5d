import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { filesQuery } from "../../api/queries.ts";
import { FormerNames } from "./former-names.tsx";

function drawn(names?: object): string {
  const client = new QueryClient();
  client.setQueryData(filesQuery("ada").queryKey, { status: "success", files: [], ...names } as never);
  return renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <MantineProvider>
        <FormerNames userId="ada" onOpen={() => undefined} />
      </MantineProvider>
    </QueryClientProvider>,
  );
}

test("former names are listed, and an answer without them breaks nothing (G301, G303)", () => {
  expect(drawn({ names: [{ name: "old-lab", reserved_until: "2027-11-28T10:00:00.000Z" }] })).toContain("old-lab");
  expect(drawn()).not.toContain("Former names");
});
