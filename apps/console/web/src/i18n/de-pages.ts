import { deAdministration } from "./de-administration.ts";
import { deAgents } from "./de-agents.ts";
import { deFirstRun } from "./de-first-run.ts";
import { deIntegrations } from "./de-integrations.ts";
import { deKnowledge } from "./de-knowledge.ts";
import { deModels } from "./de-models.ts";
import { deOverview } from "./de-overview.ts";
import type { enPages } from "./en-pages.ts";
import type { TableLike } from "./text-table.ts";

/** The texts of en-pages.ts, in German. */
export const dePages: TableLike<typeof enPages> = {
  ...deAdministration,
  ...deAgents,
  ...deFirstRun,
  ...deIntegrations,
  ...deKnowledge,
  ...deModels,
  ...deOverview,
};
