import type { TicketItem, TicketStage, ChannelChange, ChannelConfigs, ChannelItem } from "@svc/contracts";
import { useQuery } from "@tanstack/react-query";
import { ServiceError } from "@svc/client";
import { useState } from "react";
import { changeChannel, channelOf, channelsQuery } from "../api/channels.ts";
import type { ChannelId, ChannelOf } from "../api/channels.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useProject } from "../session/services.ts";
import { describeError } from "../ui/describe-error.ts";
import { addEdit, changesOf, conflictsOf, onTopOf, withEdits } from "./settings-draft.ts";
import type { Edits } from "./settings-draft.ts";

/** What has become of a message, as far as whoever tries a channel wants to know. */
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
 * How far the newest message is, against the newest ticket when the test began: null where there was none, undefined
 * while that is not known.
 */
export function arrivalOf(
  first: Pick<TicketItem, "id" | "version"> | null | undefined,
  now: Pick<TicketItem, "id" | "version" | "stage"> | null,
): Arrival {
  if (first === undefined || now === null) return "waiting";
  if (first !== null && first.id === now.id && first.version === now.version) return "waiting";
  return BY_STAGE[now.stage];
}

/** All channels, followed. */
export function useChannels() {
  const { connection } = useServices();
  return useQuery(channelsQuery(connection, useProject()));
}

/**
 * Changes channels. Settings have one version for all channels together: where others have been changed meanwhile, the
 * change is made on what is there now, unless `isInTheWay` says that this must be looked at first.
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
    isInTheWay: (now: Pick<ChannelItem, "config">) => boolean = () => false,
  ): Promise<"saved" | "conflict"> {
    // What is on its way was read before the change.
    await queryClient.cancelQueries({ queryKey });
    const known = channelOf(queryClient.getQueryData<ChannelItem[]>(queryKey) ?? [], id);
    // The page follows what is saved: it may have read what others have changed while this was edited.
    if (known !== undefined && isInTheWay(known)) return "conflict";
    const version = known?.version ?? 0;
    try {
      show(await changeChannel(connection, { project, id, version }, input));
      return "saved";
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "version_conflict") throw error;
    }
    const channels = await queryClient.fetchQuery({ ...channelsQuery(connection, project), staleTime: 0 });
    const now = channels.find((channel) => channel.id === id);
    if (now === undefined || isInTheWay(now)) return "conflict";
    show(await changeChannel(connection, { project, id, version: now.version }, input));
    return "saved";
  };
}

/** Switches a channel on or off at once, and offers to undo it. */
export function useChannelSwitch(id: ChannelId, name: string) {
  const change = useChannelChange();
  const { toasts } = useServices();
  const { t } = useTexts();
  const [isBusy, setBusy] = useState(false);
  async function set(enabled: boolean, canUndo = true) {
    setBusy(true);
    try {
      await change(id, { enabled });
      toasts.show({
        kind: "done",
        text: t(enabled ? "integrations.switchedOn" : "integrations.switchedOff", { name }),
        ...(canUndo ? { action: { label: t("ui.undo"), run: () => void set(!enabled, false) } } : {}),
      });
    } catch (error) {
      toasts.show({ kind: "error", text: describeError(error, t) });
    } finally {
      setBusy(false);
    }
  }
  return { isBusy, set: (enabled: boolean) => void set(enabled) };
}

/** What a form of a channel's settings works with. */
export interface SettingsForm<Settings> {
  /** What is saved, with what was changed. */
  shown: Settings;
  set: <Name extends keyof Settings>(name: Name, value: Settings[Name]) => void;
  /** What is wrong with a field, as the server says it. */
  errorOf: (name: keyof Settings) => string | undefined;
  /** The fields that would be saved now. */
  changes: Partial<Settings>;
  isDirty: boolean;
  isBusy: boolean;
  isDisabled: boolean;
  /** Names of fields that somebody else has changed meanwhile. */
  conflicts: readonly (keyof Settings)[];
  /** What went wrong when it was saved, in words. */
  error: string | null;
  save: () => void;
  discard: () => void;
}

/** The first words of an error that are about this field. */
function errorAt(error: unknown, name: string): string | undefined {
  if (!(error instanceof ServiceError)) return undefined;
  const found = error.errors.find(({ pointer }) => `${pointer}/`.startsWith(`/config/${name}/`));
  if (found === undefined) return undefined;
  const place = /\/(\d+)$/.exec(found.pointer)?.[1];
  return place === undefined ? found.detail : `${Number(place) + 1}: ${found.detail}`;
}

/** Whether an error is told by the fields alone. */
const isAtFields = (error: unknown) =>
  error instanceof ServiceError &&
  error.errors.length > 0 &&
  error.errors.every(({ pointer }) => pointer.startsWith("/config/"));

/** A form over the settings of a channel, saved together. What others save meanwhile is shown at once. */
export function useSettingsForm<Id extends ChannelId>(
  channel: ChannelOf<Id>,
  mayChange: boolean,
): SettingsForm<ChannelConfigs[Id]> {
  type Settings = ChannelConfigs[Id];
  const change = useChannelChange();
  const { toasts } = useServices();
  const { t } = useTexts();
  const [edits, setEdits] = useState<Edits<Settings>>({});
  const [error, setError] = useState<unknown>(null);
  const [conflicts, setConflicts] = useState<readonly (keyof Settings)[]>([]);
  const [isBusy, setBusy] = useState(false);
  const changes = changesOf(channel.config, edits);

  /** Whether somebody else has changed the same fields; then that is told, and the next save means it. */
  function isInTheWay(config: Settings): boolean {
    const found = conflictsOf(config, edits);
    setConflicts(found);
    setEdits(onTopOf(config, edits));
    return found.length > 0;
  }

  async function save() {
    setBusy(true);
    setError(null);
    try {
      // The keys of what is shown are those of what can be changed.
      const input = { config: changes } as ChannelChange;
      const outcome = await change(channel.id, input, (now) => isInTheWay(now.config as Settings));
      if (outcome === "conflict") return;
      setEdits({});
      toasts.show({ kind: "done", text: t("integrations.saved") });
    } catch (cause) {
      setError(cause);
    } finally {
      setBusy(false);
    }
  }

  return {
    shown: withEdits(channel.config, edits),
    set: (name, value) => setEdits((known) => addEdit(known, channel.config, name, value)),
    errorOf: (name) => errorAt(error, String(name)),
    changes,
    isDirty: Object.keys(changes).length > 0,
    isBusy,
    isDisabled: !mayChange,
    conflicts,
    error: error === null ? null : isAtFields(error) ? t("integrations.mend") : describeError(error, t),
    save: () => void save(),
    discard() {
      setEdits({});
      setError(null);
      setConflicts([]);
    },
  };
}
