import { notesInputSchema, notesSummarySchema } from "@svc/contracts";
import { summarizeNotes as summarize } from "@svc/operations";
import { z } from "zod";
import { describedTool } from "../mcp/tool.ts";
import { ASKS } from "./annotations.ts";

const { notes, locale, date } = notesInputSchema.shape;
const outputSchema = notesSummarySchema.pick({ cleanedText: true, summary: true, issues: true });

/** `svc_summarize_notes`: makes something of dictated notes. */
export const summarizeNotes = describedTool({
  name: "svc_summarize_notes",
  title: "Clean and summarize notes",
  description:
    "Cleans dictated notes of filler words, repetitions and corrections, summarizes them, and finds the issues they mention, each with assignee and due date if the notes name them, and the relevant passages. Nothing is stored. Show the issues to the user; submit the selected ones with svc_submit_issue.",
  scope: "agents:execute",
  input: z.strictObject({ notes, locale, date }),
  output: outputSchema,
  annotations: ASKS,
  waitingFor: "Processing the notes",
  run: async (deps, principal, input, options) => outputSchema.parse(await summarize(deps, principal, input, options)),
});
