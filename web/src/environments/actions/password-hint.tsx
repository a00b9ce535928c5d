import { Button, Popover, Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { environmentQuery } from "../../api/queries.ts";
import { CopyText } from "../../ui/controls/copy-text.tsx";
import { Facts } from "../../ui/display/facts.tsx";
import type { Environment } from "../lifecycle/environment.ts";
import classes from "./password-hint.module.css";

/** The environment secret, fetched when the hint opens; rarely needed, because the gateway signs the owner in (G40). */
export function PasswordHint({ environments }: { readonly environments: readonly Environment[] }) {
  const [opened, setOpened] = useState(false);
  const withSecret = environments.filter(({ status }) => status !== "terminated" && status !== "unknown");
  return (
    <Popover width={400} position="bottom-end" opened={opened} onChange={setOpened} trapFocus>
      <Popover.Target>
        <Button
          variant="subtle"
          leftSection={<KeyRound size={14} strokeWidth={1.6} />}
          aria-haspopup="dialog"
          onClick={() => setOpened(!opened)}
        >
          Jupyter password
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Jupyter password" className={classes.list ?? ""}>
        {withSecret.length === 0 && <p>No environment has a password now.</p>}
        {opened && (
          <Facts facts={withSecret.map(({ id, name }) => ({ label: name, value: <Password id={id} name={name} /> }))} />
        )}
        <p>Open Session signs you in without it. Each environment has its own.</p>
      </Popover.Dropdown>
    </Popover>
  );
}

function Password({ id, name }: { readonly id: string; readonly name: string }) {
  const { data, isPending, refetch } = useQuery(environmentQuery(id));
  if (isPending) return <Skeleton height={16} width={160} mt={2} />;
  if (data?.jupyter_token) return <CopyText value={data.jupyter_token} label={`Jupyter password of ${name}`} />;
  if (data) return <span className="faint">None yet</span>;
  return (
    <Button size="xs" variant="subtle" onClick={() => void refetch()}>
      Try Again
    </Button>
  );
}
