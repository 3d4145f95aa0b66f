import { ServiceError } from "@svc/client";
import { useState } from "react";
import type { Agent, AgentChange } from "@svc/contracts";
import { agentQuery, changeAgent } from "../api/agents.ts";
import { useTexts } from "../i18n/texts.ts";
import { addEdit, changesOf, conflictsOf, onTopOf, withEdits } from "../integrations/settings-draft.ts";
import type { Edits } from "../integrations/settings-draft.ts";
import type { SettingsForm } from "../integrations/use-channel.ts";
import { useServices, useProject } from "../session/services.ts";
import { describeError } from "../ui/describe-error.ts";

/** What the editor changes. */
export type AgentFields = Omit<Agent, "id" | "version">;

const isConflict = (error: unknown) => error instanceof ServiceError && error.code === "version_conflict";

/** Shows an agent as it is now, wherever agents are shown. */
export function useShowAgent() {
  const { connection, queryClient } = useServices();
  const project = useProject();
  return function show(agent: Agent) {
    queryClient.setQueryData(agentQuery(connection, project, agent.id).queryKey, agent);
    void queryClient.invalidateQueries({ queryKey: ["agents", project] });
  };
}

/** What is wrong with a field; its place within a list, counted from one, stands before it. */
function errorAt(error: unknown, name: string): string | undefined {
  if (!(error instanceof ServiceError)) return undefined;
  const found = error.errors.find(({ pointer }) => `${pointer}/`.startsWith(`/${name}/`));
  if (found === undefined) return undefined;
  const place = found.pointer
    .split("/")
    .slice(2)
    .map((part) => (/^\d+$/.test(part) ? String(Number(part) + 1) : part));
  return place.length === 0 ? found.detail : `${place.join(" · ")}: ${found.detail}`;
}

/**
 * A form over an agent. Where somebody else has saved other fields meanwhile, it is saved on top of theirs; where they
 * have changed the same field, nothing is saved before that was seen.
 */
export function useAgentForm(agent: Agent, mayChange: boolean): SettingsForm<AgentFields> {
  const { connection, queryClient, toasts } = useServices();
  const project = useProject();
  const { t } = useTexts();
  const show = useShowAgent();
  const [edits, setEdits] = useState<Edits<AgentFields>>({});
  const [error, setError] = useState<unknown>(null);
  const [conflicts, setConflicts] = useState<readonly (keyof AgentFields)[]>([]);
  const [isBusy, setBusy] = useState(false);
  const { id } = agent;
  const changes = changesOf<AgentFields>(agent, edits);

  /** Whether somebody else has changed the same fields; then that is told, and the next save means it. */
  function isInTheWay(now: Agent): boolean {
    const found = conflictsOf<AgentFields>(now, edits);
    setConflicts(found);
    setEdits(onTopOf<AgentFields>(now, edits));
    return found.length > 0;
  }

  async function store(change: AgentChange): Promise<Agent | null> {
    // The page may have read the agent anew while it was edited: then its version tells nothing.
    if (isInTheWay(agent)) return null;
    try {
      return await changeAgent(connection, { project, id, version: agent.version }, change);
    } catch (cause) {
      if (!isConflict(cause)) throw cause;
    }
    const now = await queryClient.fetchQuery({ ...agentQuery(connection, project, id), staleTime: 0 });
    return isInTheWay(now) ? null : changeAgent(connection, { project, id, version: now.version }, change);
  }

  async function save() {
    setBusy(true);
    setError(null);
    try {
      const saved = await store(changes);
      if (saved === null) return;
      show(saved);
      setEdits({});
      toasts.show({ kind: "done", text: t("agents.saved", { name: saved.name }) });
    } catch (cause) {
      setError(cause);
    } finally {
      setBusy(false);
    }
  }

  return {
    shown: withEdits<AgentFields>(agent, edits),
    set: (name, value) => setEdits((known) => addEdit<AgentFields, typeof name>(known, agent, name, value)),
    errorOf: (name) => errorAt(error, name),
    changes,
    isDirty: Object.keys(changes).length > 0,
    isBusy,
    isDisabled: !mayChange,
    conflicts,
    error: error === null ? null : describeError(error, t),
    save: () => void save(),
    discard() {
      setEdits({});
      setError(null);
      setConflicts([]);
    },
  };
}
