import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { signInsQuery } from "../../api/queries.ts";
import { SignInList } from "./sign-in-list.tsx";

test("a sign-in names the provider whose account opened it, a passkey, or nothing (G370, G424)", () => {
  const client = new QueryClient();
  const at = "2026-11-23T10:00:00.000Z";
  const each = { created_at: at, last_used_at: at, user_agent: "curl/8.5.0", ip: "203.0.113.9", current: true };
  client.setQueryData(signInsQuery("ada").queryKey, [
    { ...each, id: "1", by_passkey: false, provider: "University of Oslo" },
    { ...each, id: "2", by_passkey: true, provider: null },
    { ...each, id: "3", by_passkey: false, provider: null },
  ]);
  const drawn = renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <MantineProvider>
        <SignInList userId="ada" />
      </MantineProvider>
    </QueryClientProvider>,
  );
  const facts = [...drawn.matchAll(/This browser · 203\.0\.113\.9([^<]*)/g)].map(([, by]) => by);
  expect(facts).toEqual([" · with University of Oslo", " · with a passkey", ""]);
});
