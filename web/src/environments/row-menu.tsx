import { mayTerminate } from "@berth/contract";
import { ActionIcon, Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Ellipsis } from "lucide-react";
import { useRef, useState } from "react";
import { environmentQuery } from "../api/queries.ts";
import { toast } from "../ui/toast.ts";
import type { Environment } from "./environment.ts";
import classes from "./environments-table.module.css";

interface Props {
  readonly environment: Environment;
  readonly host: string;
  readonly disabled: boolean;
  readonly onTerminate: () => void;
}

/** The rarely needed rest of a row. Its contents are made when it opens: a list has many rows. */
export function RowMenu({ environment, host, disabled, onTerminate }: Props) {
  const [opened, setOpened] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const ask = () => {
    // The item goes with the menu: the dialog is to give the focus back to what stays.
    button.current?.focus();
    onTerminate();
  };
  return (
    <Menu position="bottom-end" width={200} opened={opened} onChange={setOpened}>
      <Menu.Target>
        <ActionIcon
          ref={button}
          variant="subtle"
          size={28}
          disabled={disabled}
          aria-label={`More actions for ${environment.name}`}
        >
          <Ellipsis size={16} strokeWidth={1.6} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {opened && (
          <>
            <Menu.Item onClick={() => copy(host, "Address")}>Copy address</Menu.Item>
            <CopySession id={environment.id} />
            {mayTerminate[environment.status] && (
              <>
                <Menu.Divider />
                <Menu.Item className={classes.danger ?? ""} onClick={ask}>
                  Terminate
                </Menu.Item>
              </>
            )}
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Support and refunds ask for it (G70). An environment between two runs still has its last one. */
function CopySession({ id }: { readonly id: string }) {
  const { data, isPending } = useQuery(environmentQuery(id));
  const session = data?.session_id;
  return (
    <Menu.Item disabled={!session} onClick={() => session && copy(session, "Session ID")}>
      {session || isPending ? "Copy session ID" : "No session yet"}
    </Menu.Item>
  );
}

function copy(value: string, what: string): void {
  const written = navigator.clipboard?.writeText(value) ?? Promise.reject(new Error("no clipboard"));
  written.then(
    () => toast.success(`${what} copied`),
    // Without TLS or permission there is no clipboard: the value is shown so that it can be taken by hand.
    () => toast.info(value, { title: what, duration: 15_000 }),
  );
}
