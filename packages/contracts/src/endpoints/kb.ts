import { z } from "zod";
import {
  KB_LIMITS,
  documentInputSchema,
  documentItemSchema,
  documentStatusSchema,
  importItemSchema,
  kbChangeSchema,
  kbHitSchema,
  kbInputSchema,
  kbItemSchema,
  passageItemSchema,
} from "../kb.ts";
import { createdAnswer, itemAnswer, listAnswer, listQuerySchema } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

const tag = "Knowledge";
const PATH = "/api/v1/admin/kb";

/** Knowledge bases, their documents and their search (service document, section 4.4). */
export const kbEndpoints = {
  listKbs: {
    method: "GET",
    path: PATH,
    tag,
    summary: "List knowledge bases, newest first",
    scope: "kb:read",
    query: listQuerySchema,
    answers: [listAnswer(kbItemSchema)],
  },
  createKb: {
    method: "POST",
    path: PATH,
    tag,
    summary: "Make a knowledge base",
    scope: "kb:write",
    body: { schema: kbInputSchema },
    answers: [createdAnswer(kbItemSchema)],
    example: { body: { name: "handbook" } },
  },
  getKb: {
    method: "GET",
    path: `${PATH}/{id}`,
    tag,
    summary: "Read a knowledge base",
    scope: "kb:read",
    answers: [itemAnswer(kbItemSchema)],
  },
  updateKb: {
    method: "PATCH",
    path: `${PATH}/{id}`,
    tag,
    summary: "Rename a knowledge base",
    scope: "kb:write",
    body: { schema: kbChangeSchema },
    ifMatch: true,
    answers: [itemAnswer(kbItemSchema)],
    example: { body: { name: "handbook 2027" } },
  },
  deleteKb: {
    method: "DELETE",
    path: `${PATH}/{id}`,
    tag,
    summary: "Delete a knowledge base with its documents",
    description: "It is taken from the agents that have it. Nobody finds anything in it from then on.",
    scope: "kb:write",
    ifMatch: true,
    answers: [itemAnswer(kbItemSchema)],
  },
  searchKb: {
    method: "GET",
    path: `${PATH}/{id}/search`,
    tag,
    summary: "Search a knowledge base",
    scope: "kb:read",
    query: z.object({
      q: z.string().describe("What is looked for: a question or words."),
      limit: z.string().optional().meta({
        type: "integer",
        minimum: 1,
        maximum: KB_LIMITS.hitsMaxCount,
        default: KB_LIMITS.hitsDefaultCount,
        description: "Passages.",
      }),
    }),
    answers: [listAnswer(kbHitSchema)],
    example: { query: { q: "how to send a message" } },
  },
  listDocuments: {
    method: "GET",
    path: `${PATH}/{id}/documents`,
    tag,
    summary: "List the documents of a knowledge base, newest first",
    scope: "kb:read",
    query: listQuerySchema.extend({ status: documentStatusSchema.optional() }),
    answers: [listAnswer(documentItemSchema)],
  },
  addDocuments: {
    method: "POST",
    path: `${PATH}/{id}/documents`,
    tag,
    summary: "Put documents into a knowledge base",
    description:
      "A text, a page to fetch, or all pages of a sitemap as JSON; or files. They are read in the background. The same key again replaces the document.",
    scope: "kb:write",
    body: {
      schema: documentInputSchema,
      maxBytes: KB_LIMITS.jsonMaxBytes,
      otherTypes: {
        "multipart/form-data": "A form with the files, and name, title, url and key where there is one file.",
        "application/octet-stream":
          "The bytes of one file, under its own media type; name, title, url and key in the query.",
      },
    },
    answers: [
      createdAnswer(z.union([documentItemSchema, importItemSchema])),
      {
        ...listAnswer(documentItemSchema),
        status: 201,
        when: "Several files, of which any is new.",
        headers: { Location: "Address of the documents." },
      },
      itemAnswer(documentItemSchema, { when: "It was there already, as it is or with the same key." }),
      { ...listAnswer(documentItemSchema), when: "Several files, which were there already." },
    ],
    errors: ["rate_limited", "storage_full"],
    example: { body: { text: "# Opening hours\n\nWe are open from 9 to 5.", title: "Opening hours", key: "hours" } },
  },
  getDocument: {
    method: "GET",
    path: `${PATH}/{id}/documents/{docId}`,
    tag,
    summary: "Read a document's record",
    scope: "kb:read",
    answers: [itemAnswer(documentItemSchema)],
  },
  deleteDocument: {
    method: "DELETE",
    path: `${PATH}/{id}/documents/{docId}`,
    tag,
    summary: "Delete a document",
    scope: "kb:write",
    answers: [itemAnswer(documentItemSchema)],
  },
  getPassage: {
    method: "GET",
    path: "/api/v1/admin/passages/{id}",
    tag,
    summary: "Read a passage in its document",
    description:
      "The `chunkId` of a source, or of a search's hit. A passage is gone when its document was read anew or deleted.",
    scope: "kb:read",
    answers: [itemAnswer(passageItemSchema)],
  },
  listImports: {
    method: "GET",
    path: `${PATH}/{id}/imports`,
    tag,
    summary: "List the sitemaps that were read, newest first",
    scope: "kb:read",
    query: listQuerySchema,
    answers: [listAnswer(importItemSchema)],
  },
  getImport: {
    method: "GET",
    path: `${PATH}/{id}/imports/{importId}`,
    tag,
    summary: "Read how far the reading of a sitemap is",
    scope: "kb:read",
    answers: [itemAnswer(importItemSchema)],
  },
} as const satisfies Record<string, Endpoint>;
