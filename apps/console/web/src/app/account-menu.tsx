import { useNavigate } from "@tanstack/react-router";
import { Bell, BellOff, Compass, KeyRound, LogOut, MonitorX } from "lucide-react";
import { Suspense, lazy, useState } from "react";
import type { ReactElement, ReactNode } from "react";
import type { Session } from "../api/session.ts";
import { mayBeLed } from "../first-run/first-run-state.ts";
import { LANGUAGES } from "../i18n/languages.ts";
import type { Language } from "../i18n/languages.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { useStore } from "../ui/create-store.ts";
import { describeFault } from "../ui/describe-fault.ts";
import { Menu, MenuChoice, MenuItem, MenuLine } from "../ui/menu.tsx";
import { PendingDialog } from "../ui/pending-dialog.tsx";
import { useCommands } from "./command-registry.ts";
import { THEMES } from "./preferences.ts";
import type { Theme } from "./preferences.ts";
import { useServices } from "./services.ts";
import { useProject } from "./use-session.ts";

const PasswordDialog = lazy(() => import("../sign-in/password-dialog.tsx"));

/** Who is signed in, how the console looks, and the ways out. */
export function AccountMenu({
  session,
  trigger,
  children,
}: {
  session: Session;
  trigger: ReactElement;
  /** What the menu has besides, before all of that. */
  children?: ReactNode;
}) {
  const { operator } = session;
  const { t } = useTexts();
  const navigate = useNavigate();
  const project = useProject();
  const { connection, preferences, queryClient, toasts } = useServices();
  const { hasNotifications, hasSingleKeys, language, theme } = useStore(preferences);
  const [isChangingPassword, setChangingPassword] = useState(false);

  const choose = (change: Partial<ReturnType<typeof preferences.get>>) =>
    preferences.set((now) => ({ ...now, ...change }));
  async function leave(path: "/session" | "/sessions") {
    try {
      await connection.send("DELETE", path);
    } catch (fault) {
      toasts.show({ kind: "fault", text: describeFault(fault, t) });
      return;
    }
    connection.setCsrf(null);
    // What was read belongs to whoever has left.
    queryClient.clear();
    location.assign("/sign-in");
  }
  async function toggleNotifications() {
    if (hasNotifications) return choose({ hasNotifications: false });
    const permission = await Notification.requestPermission();
    if (permission === "granted") choose({ hasNotifications: true });
    else toasts.show({ kind: "fault", text: t("notify.refused") });
  }
  const nextTheme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "system";
  const isLed = mayBeLed(session, project);
  const startGuide = () => void navigate({ to: "/$project/start", params: { project } });
  useCommands([
    ...(isLed ? [{ id: "first-run", title: t("firstRun.title"), group: "go" as const, run: startGuide }] : []),
    {
      id: "theme",
      title: t("command.theme", { theme: t(`theme.${nextTheme}`) }),
      group: "general",
      run: () => choose({ theme: nextTheme }),
    },
    { id: "sign-out", title: t("account.signOut"), group: "general", run: () => void leave("/session") },
  ]);

  return (
    <>
      <Menu trigger={trigger}>
        {children}
        <p className="px-2 pt-1.5 text-sm font-semibold">{operator.name}</p>
        <p className="max-w-64 truncate px-2 pb-1.5 text-xs text-muted">{operator.email}</p>
        <MenuLine />
        <MenuChoice
          label={t("account.theme")}
          value={theme}
          onChange={(value) => choose({ theme: value as Theme })}
          options={THEMES.map((value) => ({ value, label: t(`theme.${value}`) }))}
        />
        <MenuChoice
          label={t("account.language")}
          value={language}
          onChange={(value) => choose({ language: value as Language })}
          options={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
        />
        <MenuChoice
          label={t("account.keys")}
          value={hasSingleKeys ? "on" : "off"}
          onChange={(value) => choose({ hasSingleKeys: value === "on" })}
          options={[
            { value: "on", label: t("account.keysOn") },
            { value: "off", label: t("account.keysOff") },
          ]}
        />
        <MenuLine />
        {"Notification" in globalThis && (
          <MenuItem icon={hasNotifications ? BellOff : Bell} onSelect={() => void toggleNotifications()}>
            {t(hasNotifications ? "notify.off" : "notify.on")}
          </MenuItem>
        )}
        {isLed && (
          <MenuItem icon={Compass} onSelect={startGuide}>
            {t("firstRun.title")}
          </MenuItem>
        )}
        <MenuItem icon={KeyRound} onSelect={() => setChangingPassword(true)}>
          {t("account.password")}
        </MenuItem>
        <MenuItem icon={MonitorX} onSelect={() => void leave("/sessions")}>
          {t("account.signOutEverywhere")}
        </MenuItem>
        <MenuItem icon={LogOut} onSelect={() => void leave("/session")}>
          {t("account.signOut")}
        </MenuItem>
      </Menu>
      <Suspense fallback={<PendingDialog />}>
        {isChangingPassword && <PasswordDialog onClose={() => setChangingPassword(false)} />}
      </Suspense>
    </>
  );
}
