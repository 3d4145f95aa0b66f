import type { TicketItem, TicketStage, ChannelChange, ChannelConfigs, ChannelItem } from "@svc/contracts";
import { useQuery } from "@tanstack/react-query";
import { ServiceError } from "@svc/client";
import { changeChannel, channelOf, channelsQuery } from "../api/administration.ts";
import type { ChannelId, ChannelOf } from "../api/administration.ts";
import { useAction, useSettingsForm } from "../forms/use-settings-form.ts";
import type { SettingsForm } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useProject, useRights } from "../session/services.ts";
import { describeError } from "../ui/describe-error.ts";

/**
 * Returns the entered whole number. Text that is not a number is sent as zero, for which the server describes the
 * range.
 */
export const wholeNumber = (text: string): number => Math.round(Number(text)) || 0;

/** The state of a message, for a person who tries a channel. */
export type Arrival = "waiting" | "working" | "answered" | "held" | "failed";

const BY_STAGE = {
  received: "working",
  triage: "working",
  retrieval: "working",
  agent: "working",
  delivering: "working",
  review: "held",
  done: "answered",
  failed: "failed",
} as const satisfies Record<TicketStage, Arrival>;

/**
 * Returns the state of the newest message. `first` is the newest ticket when the test began: null if there was none,
 * undefined while it is loading.
 */
export function arrivalOf(
  first: Pick<TicketItem, "id" | "version"> | null | undefined,
  now: Pick<TicketItem, "id" | "version" | "stage"> | null,
): Arrival {
  if (first === undefined || now === null) return "waiting";
  if (first !== null && first.id === now.id && first.version === now.version) return "waiting";
  return BY_STAGE[now.stage];
}

/** All channels, polled. */
export function useChannels() {
  const { connection } = useServices();
  return useQuery(channelsQuery(connection, useProject()));
}

/**
 * Returns a function that changes a channel. Settings have one version for all channels together: after other channels
 * have been changed, the change is made again for the new version, unless `isConflict` returns true for it.
 */
export function useChannelChange() {
  const { connection, queryClient } = useServices();
  const project = useProject();
  const { queryKey } = channelsQuery(connection, project);

  function show(item: ChannelItem) {
    queryClient.setQueryData<ChannelItem[]>(queryKey, (known) =>
      known?.map((channel) => (channel.id === item.id ? item : { ...channel, version: item.version })),
    );
  }

  return async function change(
    id: ChannelId,
    input: ChannelChange,
    isConflict: (now: Pick<ChannelItem, "config">) => boolean = () => false,
  ): Promise<"saved" | "conflict"> {
    // A pending response was read before the change.
    await queryClient.cancelQueries({ queryKey });
    const known = channelOf(queryClient.getQueryData<ChannelItem[]>(queryKey) ?? [], id);
    // The page follows what is saved: it may have read what others have changed while this was edited.
    if (known !== undefined && isConflict(known)) return "conflict";
    const version = known?.version ?? 0;
    try {
      show(await changeChannel(connection, { project, id, version }, input));
      return "saved";
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "version_conflict") throw error;
    }
    const channels = await queryClient.fetchQuery({ ...channelsQuery(connection, project), staleTime: 0 });
    const now = channels.find((channel) => channel.id === id);
    if (now === undefined || isConflict(now)) return "conflict";
    show(await changeChannel(connection, { project, id, version: now.version }, input));
    return "saved";
  };
}

/** Enables or disables a channel immediately, and offers to undo it. */
export function useChannelSwitch(id: ChannelId, name: string) {
  const change = useChannelChange();
  const { toasts } = useServices();
  const { t } = useTexts();
  const { isBusy, runAside } = useAction();
  const set = (enabled: boolean, canUndo = true) =>
    runAside(async () => {
      await change(id, { enabled });
      const text = t(enabled ? "integrations.switchedOn" : "integrations.switchedOff", { name });
      const undo = { action: { label: t("ui.undo"), run: () => void set(!enabled, false) } };
      toasts.show({ kind: "done", text, ...(canUndo ? undo : {}) });
    });
  return { isBusy, set: (enabled: boolean) => void set(enabled) };
}

/** Returns true if each error belongs to a field of the settings, and is shown there. */
const isAtFields = (error: unknown) =>
  error instanceof ServiceError &&
  error.errors.length > 0 &&
  error.errors.every(({ pointer }) => pointer.startsWith("/config/"));

/** A form for the settings of a channel. Changes saved by others are shown immediately. */
export function useChannelForm<Id extends ChannelId>(channel: ChannelOf<Id>): SettingsForm<ChannelConfigs[Id]> {
  type Settings = ChannelConfigs[Id];
  const change = useChannelChange();
  const { t } = useTexts();
  const mayChange = useRights()("admin:*");
  return useSettingsForm<Settings>({
    saved: channel.config,
    mayChange,
    pointer: "/config",
    async store(changes, isConflict) {
      // The keys of the settings are those of a change.
      const input = { config: changes } as ChannelChange;
      const outcome = await change(channel.id, input, (now) => isConflict(now.config as Settings));
      return outcome === "saved" ? t("integrations.saved") : null;
    },
    describe: (error) => (isAtFields(error) ? t("integrations.mend") : describeError(error, t)),
  });
}
