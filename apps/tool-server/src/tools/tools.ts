import type { Tool } from "../mcp/tool.ts";
import { executeAgent } from "./execute-agent.ts";
import { getTicket } from "./get-ticket.ts";
import { listAgents } from "./list-agents.ts";
import { listKbs } from "./list-kbs.ts";
import { listTickets } from "./list-tickets.ts";
import { searchKb } from "./search-kb.ts";
import { submitIssue } from "./submit-issue.ts";
import { summarizeNotes } from "./summarize-notes.ts";

/** The tools of the product, in the order in which every client sees them. */
export const TOOLS: readonly Tool[] = [
  searchKb,
  listKbs,
  listAgents,
  executeAgent,
  getTicket,
  listTickets,
  summarizeNotes,
  submitIssue,
];
