import { kbHitSchema, kbsSearchSchema } from "@svc/contracts";
import { searchKbs } from "@svc/operations";
import { z } from "zod";
import { describedTool } from "../mcp/tool.ts";
import { READS } from "./annotations.ts";

const hitSchema = kbHitSchema.pick({
  documentId: true,
  title: true,
  url: true,
  chunkId: true,
  text: true,
  score: true,
});

/** `svc_search_kb`: passages of the project's knowledge bases. */
export const searchKb = describedTool({
  name: "svc_search_kb",
  title: "Search knowledge bases",
  description:
    "Finds the passages of the project's knowledge bases that match a question or some words best, best first. Quote the text as it is and name its title or url as the source.",
  scope: "kb:read",
  input: kbsSearchSchema,
  output: z.object({ hits: z.array(hitSchema).describe("Best first; none where nothing fits.") }),
  annotations: READS,
  async run(deps, principal, input, options) {
    const hits = await searchKbs(deps, principal, input, options);
    return { hits: hits.map((hit) => hitSchema.parse(hit)) };
  },
});
