import { Button, Skeleton, Tabs } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useSearchParams } from "react-router";
import { settingsQuery } from "../api/queries.ts";
import { useSession } from "../api/session.ts";
import { commonTexts } from "../content/common-texts.ts";
import { EmptyState, FreeSlots } from "../ui/display/empty-state.tsx";
import { SshKeysPanel } from "./access/ssh-keys-panel.tsx";
import { DataPanel } from "./data-panel.tsx";
import { NotificationsPanel } from "./notifications-panel.tsx";
import { PasswordPanel } from "./password-panel.tsx";
import { ProfileForm } from "./profile-form.tsx";
import { SecurityPanel } from "./security-panel.tsx";
import classes from "./settings-page.module.css";
import { settingsTab } from "./settings-tab.ts";

/** Spec 2.11, Settings: two tabs, then the flags that have an effect (G49). */
export function SettingsPage() {
  const userId = useSession()?.userId ?? "";
  const [params, setParams] = useSearchParams();
  const wide = useMediaQuery("(min-width: 48em)", true, { getInitialValueInEffect: false });
  const open = (tab: string | null) =>
    setParams(tab === null || tab === "profile" ? {} : { tab }, { replace: true, preventScrollReset: true });
  return (
    <Tabs
      className={classes.page}
      value={settingsTab(params)}
      onChange={open}
      orientation={wide ? "vertical" : "horizontal"}
      keepMounted={false}
      variant="none"
    >
      <Tabs.List aria-label="Settings">
        <Tabs.Tab value="profile">Profile</Tabs.Tab>
        <Tabs.Tab value="password">Password</Tabs.Tab>
        <Tabs.Tab value="notifications">Notifications</Tabs.Tab>
        <Tabs.Tab value="security">Security</Tabs.Tab>
        <Tabs.Tab value="ssh-keys">SSH keys</Tabs.Tab>
        <Tabs.Tab value="data">Your data</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="profile">
        <Stored userId={userId}>{(stored) => <ProfileForm userId={userId} profile={stored.profile} />}</Stored>
      </Tabs.Panel>
      <Tabs.Panel value="password">
        <PasswordPanel userId={userId} />
      </Tabs.Panel>
      <Tabs.Panel value="notifications">
        <Stored userId={userId}>{(stored) => <NotificationsPanel userId={userId} flags={stored.flags} />}</Stored>
      </Tabs.Panel>
      <Tabs.Panel value="security">
        <Stored userId={userId}>{(stored) => <SecurityPanel userId={userId} flags={stored.flags} />}</Stored>
      </Tabs.Panel>
      <Tabs.Panel value="ssh-keys">
        <SshKeysPanel userId={userId} />
      </Tabs.Panel>
      <Tabs.Panel value="data">
        <Stored userId={userId}>{(stored) => <DataPanel userId={userId} email={stored.profile.email} />}</Stored>
      </Tabs.Panel>
    </Tabs>
  );
}

type StoredSettings = NonNullable<ReturnType<typeof useStored>["data"]>;

const useStored = (userId: string) => useQuery({ ...settingsQuery(userId), enabled: userId !== "" });

interface StoredProps {
  readonly userId: string;
  readonly children: (stored: StoredSettings) => React.ReactNode;
}

function Stored({ userId, children }: StoredProps) {
  const { data, error, isFetching, refetch } = useStored(userId);
  if (data) return children(data);
  if (!error)
    return (
      <div className={classes.form} role="status" aria-label="Loading your settings...">
        <Skeleton height={28} width={160} />
        {[1, 2, 3].map((row) => (
          <Skeleton key={row} height={58} />
        ))}
      </div>
    );
  return (
    <EmptyState
      title="Error fetching user settings... Please refresh"
      picture={<FreeSlots failed />}
      action={
        <Button variant="default" loading={isFetching} onClick={() => void refetch()}>
          {commonTexts.tryAgain}
        </Button>
      }
    >
      Nothing was changed.
    </EmptyState>
  );
}
