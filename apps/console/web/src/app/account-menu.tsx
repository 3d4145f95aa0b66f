import { useNavigate } from "@tanstack/react-router";
import { Bell, BellOff, Compass, KeyRound, LogOut, Mail, MonitorX, PenLine } from "lucide-react";
import { useState } from "react";
import type { ReactElement, ReactNode } from "react";
import { SECTIONS } from "../administration/sections.ts";
import type { AdministrationSection } from "../administration/sections.ts";
import { changeDuty, findPushSubscription, sessionQuery } from "../api/session.ts";
import type { Session } from "../api/session.ts";
import { canUseGuide } from "../first-run/first-run-state.ts";
import { useTexts, LANGUAGES } from "../i18n/texts.ts";
import type { Language } from "../i18n/texts.ts";
import { THEMES } from "../session/preferences.ts";
import type { Theme } from "../session/preferences.ts";
import { useServices, useCommands, useProject, useRights } from "../session/services.ts";
import { Avatar } from "../ui/badge.tsx";
import { useStore } from "../ui/create-store.ts";
import { describeError } from "../ui/describe-error.ts";
import { lazyDialog } from "../ui/dialog.tsx";
import { Menu, MenuChoice, MenuItem, MenuSeparator } from "../ui/menu.tsx";

interface Projects {
  projects: readonly string[];
  project: string;
}

/** Navigates to the inbox of a project. */
function useGoToProject(): (name: string) => void {
  const navigate = useNavigate();
  return (name) => void navigate({ to: "/$project/inbox/$view", params: { project: name, view: "review" } });
}

/** Adds commands for other projects, the parts of the administration that the operator may see, and business hours. */
export function useProjectCommands({ projects, project }: Projects): void {
  const { t } = useTexts();
  const goTo = useGoToProject();
  const navigate = useNavigate();
  const mayDo = useRights();
  const others = projects.filter((name) => name !== project);
  const openSection = (section: AdministrationSection["id"]) =>
    void navigate({ to: "/$project/administration/$section", params: { project, section } });
  useCommands("go", [
    ...others.map((name) => ({
      id: `project-${name}`,
      title: t("command.project", { project: name }),
      run: () => goTo(name),
    })),
    ...SECTIONS.filter(({ scope }) => mayDo(scope)).map(({ id, title }) => ({
      id: `section-${id}`,
      title: t("command.goTo", { page: t(title) }),
      run: () => openSection(id),
    })),
    mayDo("admin:*") && { id: "business-hours", title: t("command.hours"), run: () => openSection("projects") },
  ]);
}

/** The current project, and the others, as items of a menu. */
export function ProjectChoice({ projects, project }: Projects) {
  const { t } = useTexts();
  return (
    <MenuChoice
      label={t("project.label")}
      value={project}
      onChange={useGoToProject()}
      options={projects.map((name) => ({ value: name, label: name }))}
    />
  );
}

/** A menu with the current project, and the others. */
export function ProjectMenu({ projects, project }: Projects) {
  const { t } = useTexts();
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          aria-label={t("project.choose", { project })}
          title={t("project.choose", { project })}
          className="flex items-center justify-center rounded-lg p-1 hover:bg-hover"
        >
          <Avatar name={project} size="large" />
        </button>
      }
    >
      <ProjectChoice projects={projects} project={project} />
    </Menu>
  );
}

const PasswordDialog = lazyDialog(async () => (await import("../account/account-dialogs.tsx")).PasswordDialog);

const ProfileDialog = lazyDialog(async () => (await import("../account/account-dialogs.tsx")).ProfileDialog);

/** The menu with the signed-in operator, appearance, and signing out. */
// oxlint-disable-next-line max-lines-per-function -- one menu: a few lines for each of its items
export function AccountMenu({
  session,
  trigger,
  children,
}: {
  session: Session;
  trigger: ReactElement;
  /** Further items at the top of the menu. */
  children?: ReactNode;
}) {
  const { operator } = session;
  const { t } = useTexts();
  const navigate = useNavigate();
  const project = useProject();
  const { connection, preferences, queryClient, texts, toasts } = useServices();
  const { hasNotifications, hasSingleKeys, language, theme } = useStore(preferences);
  const [dialog, setDialog] = useState<"password" | "profile" | null>(null);
  const close = () => setDialog(null);

  const choose = (change: Partial<ReturnType<typeof preferences.get>>) =>
    preferences.set((now) => ({ ...now, ...change }));
  async function leave(path: "/session" | "/sessions") {
    try {
      // The next user of this browser must not get this operator's notifications.
      const subscription = await findPushSubscription(connection);
      if (subscription !== null) {
        await connection.send("DELETE", "/session/push", { body: { endpoint: subscription.endpoint } });
        // The server no longer sends to it; an unreachable push service must not prevent signing out.
        await subscription.unsubscribe().catch(() => false);
      }
      await connection.send("DELETE", path);
    } catch (error) {
      toasts.show({ kind: "error", text: describeError(error, t) });
      return;
    }
    connection.setCsrf(null);
    // Cached data belongs to the operator who has signed out.
    queryClient.clear();
    location.assign("/sign-in");
  }
  async function setDuty(onDuty: boolean) {
    try {
      const session = await changeDuty(connection, onDuty);
      queryClient.setQueryData(sessionQuery(connection).queryKey, session);
    } catch (error) {
      toasts.show({ kind: "error", text: describeError(error, t) });
    }
  }
  async function openProfile() {
    try {
      await texts.need("pages");
      setDialog("profile");
    } catch (error) {
      toasts.show({ kind: "error", text: describeError(error, t) });
    }
  }
  async function toggleNotifications() {
    if (hasNotifications) return choose({ hasNotifications: false });
    const permission = await Notification.requestPermission();
    if (permission === "granted") choose({ hasNotifications: true });
    else toasts.show({ kind: "error", text: t("notify.refused") });
  }
  const isLed = canUseGuide(session, project);
  const startGuide = () => void navigate({ to: "/$project/start", params: { project } });
  useCommands("go", [isLed && { id: "first-run", title: t("firstRun.title"), run: startGuide }]);
  useCommands("general", [
    {
      id: "duty",
      title: t(operator.onDuty ? "command.offDuty" : "command.onDuty"),
      run: () => void setDuty(!operator.onDuty),
    },
    ...THEMES.filter((other) => other !== theme).map((other) => ({
      id: `theme-${other}`,
      title: t("command.theme", { theme: t(`theme.${other}`) }),
      run: () => choose({ theme: other }),
    })),
    { id: "sign-out", title: t("account.signOut"), run: () => void leave("/session") },
  ]);

  return (
    <>
      <Menu trigger={trigger}>
        {children}
        <p className="px-2 pt-1.5 text-sm font-semibold">{operator.name}</p>
        <p className="max-w-64 truncate px-2 pb-1.5 text-xs text-muted">{operator.email}</p>
        <MenuSeparator />
        <MenuChoice
          label={t("account.duty")}
          value={operator.onDuty ? "on" : "off"}
          onChange={(value) => void setDuty(value === "on")}
          options={[
            { value: "on", label: t("account.onDuty") },
            { value: "off", label: t("account.offDuty") },
          ]}
        />
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
        <MenuSeparator />
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
        <MenuItem icon={Mail} onSelect={() => void navigate({ to: "/$project/notifications", params: { project } })}>
          {t("account.notifications")}
        </MenuItem>
        <MenuItem icon={PenLine} onSelect={() => void openProfile()}>
          {t("account.profile")}
        </MenuItem>
        <MenuItem icon={KeyRound} onSelect={() => setDialog("password")}>
          {t("account.password")}
        </MenuItem>
        <MenuItem icon={MonitorX} onSelect={() => void leave("/sessions")}>
          {t("account.signOutEverywhere")}
        </MenuItem>
        <MenuItem icon={LogOut} onSelect={() => void leave("/session")}>
          {t("account.signOut")}
        </MenuItem>
      </Menu>
      {dialog === "password" && <PasswordDialog onClose={close} />}
      {dialog === "profile" && <ProfileDialog onClose={close} />}
    </>
  );
}
