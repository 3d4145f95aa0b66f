import { enAdministration } from "./en-administration.ts";
import { enAgents } from "./en-agents.ts";
import { enFirstRun } from "./en-first-run.ts";
import { enIntegrations } from "./en-integrations.ts";
import { enKnowledge } from "./en-knowledge.ts";
import { enModels } from "./en-models.ts";
import { enOverview } from "./en-overview.ts";

/** Texts of all pages but the inbox, fetched with the first of them. They may use each other's. */
export const enPages = {
  ...enAdministration,
  ...enAgents,
  ...enFirstRun,
  ...enIntegrations,
  ...enKnowledge,
  ...enModels,
  ...enOverview,
} as const;
