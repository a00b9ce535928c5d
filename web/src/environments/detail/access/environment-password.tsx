import { rotateSecret } from "@berth/contract";
import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call, messageOf } from "../../../api/call.ts";
import { keys } from "../../../api/queries.ts";
import { CopyText } from "../../../ui/controls/copy-text.tsx";
import { Confirmation } from "../../../ui/dialogs/confirmation.tsx";
import { toast } from "../../../ui/toast/toast.ts";
import type { Detail } from "../../lifecycle/environment.ts";
import section from "../environment-section.module.css";

/** The environment secret for scripts and tools, and its rotation (G95, G109). */
export function EnvironmentPassword({ environment }: { readonly environment: Detail }) {
  const { id, name, jupyter_token: password } = environment;
  const [confirming, setConfirming] = useState(false);
  const client = useQueryClient();
  const { mutate, isPending } = useMutation({
    mutationFn: () => call(rotateSecret, { params: { id }, body: {} }),
    onSuccess: () => toast.success("The new password is drawn. The old one lets nobody in."),
    onError: (error) => toast.error(messageOf(error), { title: "The password was not changed" }),
    onSettled: async () => {
      setConfirming(false);
      await client.invalidateQueries({ queryKey: keys.environment(id) });
    },
  });
  return (
    <section aria-labelledby="password-title">
      <h2 id="password-title" className="section-title">
        Jupyter password
      </h2>
      <p className={section.lead}>
        Scripts and other tools use it to reach {name}; Open Session signs you in without it. Make a new one when
        somebody may have seen it.
      </p>
      <div className={section.controls}>
        {password !== null && <CopyText value={password} label={`password of ${name}`} />}
        <Button variant="default" onClick={() => setConfirming(true)}>
          Make a new password
        </Button>
      </div>
      <Confirmation
        opened={confirming}
        title={`Make a new password for ${name}?`}
        action="Make a new password"
        keep="Keep the old one"
        busy={isPending}
        onClose={() => setConfirming(false)}
        onConfirm={() => mutate()}
      >
        Every script, editor and connection that came in by the old password is cut off within 2 seconds, and needs the
        new one to come back. Share links, your own tabs, running kernels and files stay as they are.
      </Confirmation>
    </section>
  );
}
