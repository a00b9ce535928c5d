import { revokeVouchers } from "@berth/contract/console/credits";
import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { ActDialog, type ActRequest } from "../frame/act-dialog.tsx";
import { callConsole } from "../frame/call-console.ts";

/** Makes one code void, such as one that was published. */
export function RevokeCode() {
  const [opened, setOpened] = useState(false);
  const [code, setCode] = useState("");
  const request: ActRequest = {
    title: "Revoke one code",
    action: "Revoke",
    consequences: "It can no longer be redeemed, for good. A credit that it has brought stays.",
    fields: (
      <TextInput
        label="Code"
        placeholder="7K3MQ-0T9W2-MZP7X-K4Q0T"
        autoComplete="off"
        spellCheck={false}
        value={code}
        onChange={(event) => setCode(event.currentTarget.value)}
        data-autofocus
      />
    ),
    complete: code.trim() !== "",
    run: (reason) => callConsole(revokeVouchers, { params: {}, body: { voucher: code, reason } }),
  };
  const close = () => {
    setOpened(false);
    setCode("");
  };
  return (
    <>
      <Button variant="default" onClick={() => setOpened(true)}>
        Revoke one code
      </Button>
      <ActDialog request={opened ? request : undefined} onClose={close} />
    </>
  );
}
