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

/** Gaps: questions without a good answer. */
export const gapEndpoints = {
  listGaps: {
    method: "GET",
    path: PATH,
    tag,
    summary: "List questions without a good answer",
    description: "Similar questions are grouped into one gap. `q` searches the question.",
    scope: "tickets:read",
    query: listQuerySchema.extend({
      status: z.string().optional().describe("Only gaps with this status: `open`, `answered` or `ignored`."),
      sort: z
        .string()
        .optional()
        .describe("Sort order: `count` (default) for the most frequent first, or `lastAt` for the most recent first."),
    }),
    answers: [listAnswer(gapSchema)],
    example: { query: { status: "open", sort: "count" } },
  },
  getGap: {
    method: "GET",
    path: `${PATH}/{id}`,
    tag,
    summary: "Get a gap and the current answer to its question",
    description: "The current answer contains text from knowledge bases, so it also requires kb:read.",
    scope: "tickets:read",
    answers: [itemAnswer(gapDetailSchema)],
  },
  updateGap: {
    method: "PATCH",
    path: `${PATH}/{id}`,
    tag,
    summary: "Mark a gap as answered, ignored or open",
    description:
      "An answered gap reopens when its question is asked again without a good answer. An ignored gap does not.",
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
    summary: "Write an article that answers a gap",
    description:
      "The article becomes a document in the knowledge base, is indexed within seconds, and the gap is marked as answered. A second call replaces the article in the same knowledge base; use `If-Match` to avoid overwriting a change you have not seen. The question and its examples are returned only to keys with tickets:read.",
    scope: "kb:write",
    body: { schema: gapArticleSchema, maxBytes: GAP_LIMITS.bodyMaxBytes },
    ifMatch: true,
    answers: [
      createdAnswer(answeredGapSchema, "/api/v1/admin/kb/{article.kbId}/documents/{article.documentId}"),
      itemAnswer(answeredGapSchema, { when: "The existing article was replaced." }),
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
