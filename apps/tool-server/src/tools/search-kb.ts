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
    "Searches the project's knowledge bases and returns the passages that best match a question or keywords, best first. Quote the text unchanged and cite its title or URL as the source.",
  scope: "kb:read",
  input: kbsSearchSchema,
  output: z.object({ hits: z.array(hitSchema).describe("Best first. Empty if nothing matches.") }),
  annotations: READS,
  async run(deps, principal, input, options) {
    const hits = await searchKbs(deps, principal, input, options);
    return { hits: hits.map((hit) => hitSchema.parse(hit)) };
  },
});
