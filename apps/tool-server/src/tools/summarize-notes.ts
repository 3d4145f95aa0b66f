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
    "Cleans dictated notes of fillers, repeats and what the speaker took back, sums them up, and finds the issues that they tell of, each with who is to do it and by when, where the notes say so, and the places in the notes where it stands. Nothing is kept. Show the issues to the person; send those that are chosen with svc_submit_issue.",
  scope: "agents:execute",
  input: z.strictObject({ notes, locale, date }),
  output: outputSchema,
  annotations: ASKS,
  waitingFor: "The notes are being read",
  run: async (deps, principal, input, options) => outputSchema.parse(await summarize(deps, principal, input, options)),
});
