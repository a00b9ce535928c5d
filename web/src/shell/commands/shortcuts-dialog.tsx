import { Switch } from "@mantine/core";
import { useState } from "react";
import { hasSingleKeys, setSingleKeys } from "../../ui/controls/single-keys.ts";
import { Dialog } from "../../ui/dialogs/dialog.tsx";
import classes from "../overlays.module.css";

const keys = [
  ["Search screens, environments and actions", ["Ctrl", "K"]],
  ["Search on this page", ["/"]],
  ["Create New Environment", ["C"]],
  ["Go to Dashboard", ["G", "D"]],
  ["Go to Environments", ["G", "E"]],
  ["Go to Billing", ["G", "B"]],
  ["Go to Support", ["G", "S"]],
  ["Go to Settings", ["G", "T"]],
  ["Show this list", ["?"]],
] as const;

const isMac = () => /Mac|iPhone|iPad/.test(globalThis.navigator?.userAgent ?? "");

/** The page of the shortcuts. */
export function ShortcutsDialog({ opened, onClose }: { readonly opened: boolean; readonly onClose: () => void }) {
  return (
    <Dialog opened={opened} title="Keyboard shortcuts" onClose={onClose}>
      <dl className={classes.keys}>
        {keys.map(([label, parts]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              {parts.map((part) => (
                <kbd key={part}>{part === "Ctrl" && isMac() ? "Cmd" : part}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <SingleKeys />
    </Dialog>
  );
}

function SingleKeys() {
  const [on, setOn] = useState(hasSingleKeys);
  return (
    <Switch
      label="Keys without Ctrl work"
      description="Turn them off if you speak to your computer."
      checked={on}
      onChange={({ currentTarget: { checked } }) => {
        setSingleKeys(checked);
        setOn(checked);
      }}
    />
  );
}
