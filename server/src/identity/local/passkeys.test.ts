import { expect, test } from "vitest";
import { testInstallation } from "../testing/test-installation.ts";

const { start } = await testInstallation();

test.each([
  ["https://berth.example", null],
  ["http://localhost:3000", null],
  ["http://berth.localhost:3000", null],
  ["http://berth.example", "Passkeys need https, and this installation is at http://berth.example."],
  ["http://10.0.0.7:3000", "Passkeys need an address with a name, and this installation is at http://10.0.0.7:3000."],
  ["https://[2001:db8::1]", "Passkeys need an address with a name, and this installation is at https://[2001:db8::1]."],
])("G424 passkeys at %s: %s", async (appUrl, why) => {
  const { passkeys, browserConfig } = start({ appUrl });
  expect(passkeys.unavailable()).toBe(why);
  expect(browserConfig().passkeys).toBe(why === null);
  const begun = passkeys.beginSignIn();
  if (why === null) expect((await begun).rpId).toBe(new URL(appUrl).hostname);
  else await expect(begun).rejects.toMatchObject({ code: "action_not_allowed", message: why });
});
