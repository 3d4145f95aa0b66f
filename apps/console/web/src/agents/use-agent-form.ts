import { ServiceError } from "@svc/client";
import type { Agent } from "@svc/contracts";
import { agentQuery, changeAgent } from "../api/agents.ts";
import { useSettingsForm } from "../forms/use-settings-form.ts";
import type { SettingsForm } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useProject } from "../session/services.ts";
import { describeError } from "../ui/describe-error.ts";

/** The fields that the editor changes. */
type AgentFields = Omit<Agent, "id" | "version">;

/**
 * A form for an agent. Changes to other fields that another operator has saved meanwhile are kept; after changes to the
 * same fields nothing is saved until the operator has seen them.
 */
export function useAgentForm(agent: Agent, mayChange: boolean): SettingsForm<AgentFields> {
  const { connection, queryClient } = useServices();
  const project = useProject();
  const { t } = useTexts();
  const { id } = agent;
  const query = agentQuery(connection, project, id);

  return useSettingsForm<AgentFields>({
    saved: agent,
    mayChange,
    pointer: "",
    async store(changes, isConflict) {
      async function save(version: number): Promise<string> {
        const saved = await changeAgent(connection, { project, id, version }, changes);
        queryClient.setQueryData(query.queryKey, saved);
        void queryClient.invalidateQueries({ queryKey: ["agents", project] });
        return t("agents.saved", { name: saved.name });
      }
      // The page may have refetched the agent while it was edited: then its version does not indicate conflicts.
      if (isConflict(agent)) return null;
      try {
        return await save(agent.version);
      } catch (cause) {
        if (!(cause instanceof ServiceError) || cause.code !== "version_conflict") throw cause;
      }
      const now = await queryClient.fetchQuery({ ...query, staleTime: 0 });
      return isConflict(now) ? null : save(now.version);
    },
    describe: (error) => describeError(error, t),
  });
}
