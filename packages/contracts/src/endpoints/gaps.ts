import { z } from "zod";
import {
  GAP_LIMITS,
  answeredGapSchema,
  gapArticleSchema,
  gapChangeSchema,
  gapDetailSchema,
  gapSchema,
} from "../gap.ts";
import { createdAnswer, itemAnswer, listAnswer, listQuerySchema } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

const tag = "Gaps";
const PATH = "/api/v1/admin/gaps";

/** Questions that found no good answer. */
export const gapEndpoints = {
  listGaps: {
    method: "GET",
    path: PATH,
    tag,
    summary: "List questions that found no good answer",
    description: "Questions that ask the same are one gap. `q` is looked for in the question.",
    scope: "tickets:read",
    query: listQuerySchema.extend({
      status: z.string().optional().describe("Only those of this status: `open`, `answered` or `ignored`."),
      sort: z.string().optional().describe("`count` (the default) or `lastAt`: the most, or the newest, first."),
    }),
    answers: [listAnswer(gapSchema)],
    example: { query: { status: "open", sort: "count" } },
  },
  getGap: {
    method: "GET",
    path: `${PATH}/{id}`,
    tag,
    summary: "Read a gap, and what would be answered now",
    description: "What would be answered is the text of knowledge bases: it needs kb:read as well.",
    scope: "tickets:read",
    answers: [itemAnswer(gapDetailSchema)],
  },
  updateGap: {
    method: "PATCH",
    path: `${PATH}/{id}`,
    tag,
    summary: "Mark a gap as answered, ignored or open",
    description:
      "An answered one opens again when the question finds no good answer once more; an ignored one stays so.",
    scope: "tickets:write",
    body: { schema: gapChangeSchema },
    ifMatch: true,
    answers: [itemAnswer(gapSchema)],
    example: { body: { status: "ignored" } },
  },
  writeGapArticle: {
    method: "POST",
    path: `${PATH}/{id}/article`,
    tag,
    summary: "Write an article that closes a gap",
    description:
      "It becomes a document of the knowledge base, is read within seconds, and the gap is marked as answered. Written again, it replaces the article in the same knowledge base; `If-Match` keeps it from replacing one that nobody has seen. Question and examples are answered to keys with tickets:read only.",
    scope: "kb:write",
    body: { schema: gapArticleSchema, maxBytes: GAP_LIMITS.bodyMaxBytes },
    ifMatch: true,
    answers: [
      createdAnswer(answeredGapSchema),
      itemAnswer(answeredGapSchema, { when: "It replaced the article that was there." }),
    ],
    errors: ["payload_too_large", "rate_limited"],
    example: {
      body: {
        kbId: "01890a5d-ac96-774b-bcce-b302099a8057",
        title: "Do you ship to Iceland?",
        text: "We ship to Iceland within ten days.",
      },
    },
  },
} as const satisfies Record<string, Endpoint>;
