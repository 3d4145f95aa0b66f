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
} from "./kb.ts";
import { createdAnswer, itemAnswer, listAnswer, listQuery } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

const tag = "Knowledge";
const PATH = "/api/v1/admin/kb";

/** Knowledge bases, their documents and search (service document, section 4.4). */
export const kbEndpoints = {
  listKbs: {
    method: "GET",
    path: PATH,
    tag,
    summary: "List knowledge bases, newest first",
    scope: "kb:read",
    query: listQuery,
    answers: [listAnswer(kbItemSchema)],
  },
  createKb: {
    method: "POST",
    path: PATH,
    tag,
    summary: "Create a knowledge base",
    scope: "kb:write",
    body: { schema: kbInputSchema },
    answers: [createdAnswer(kbItemSchema)],
    example: { body: { name: "handbook" } },
  },
  getKb: {
    method: "GET",
    path: `${PATH}/{id}`,
    tag,
    summary: "Get a knowledge base",
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
    description: "It is removed from the agents that use it and disappears from search results immediately.",
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
      q: z.string().describe("Search query: a question or keywords."),
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
    query: listQuery.extend({ status: documentStatusSchema.optional() }),
    answers: [listAnswer(documentItemSchema)],
  },
  addDocuments: {
    method: "POST",
    path: `${PATH}/{id}/documents`,
    tag,
    summary: "Add documents to a knowledge base",
    description:
      "Send a text, a page URL or a sitemap URL as JSON, or upload files. Documents are processed in the background. Repeating a key replaces the document.",
    scope: "kb:write",
    body: {
      schema: documentInputSchema,
      maxBytes: KB_LIMITS.jsonMaxBytes,
      otherTypes: {
        "multipart/form-data":
          "A form with the files. With a single file, the form can also contain name, title, url and key.",
        "application/octet-stream":
          "The content of one file, with its own media type. Pass name, title, url and key in the query.",
      },
    },
    answers: [
      createdAnswer(z.union([documentItemSchema, importItemSchema])),
      {
        ...listAnswer(documentItemSchema),
        status: 201,
        when: "Several files, at least one of them new.",
        headers: { Location: "Path of the documents." },
      },
      itemAnswer(documentItemSchema, { when: "The document already existed, unchanged or with the same key." }),
      { ...listAnswer(documentItemSchema), when: "Several files, all of which already existed." },
    ],
    errors: ["rate_limited", "storage_full"],
    example: { body: { text: "# Opening hours\n\nWe are open from 9 to 5.", title: "Opening hours", key: "hours" } },
  },
  getDocument: {
    method: "GET",
    path: `${PATH}/{id}/documents/{docId}`,
    tag,
    summary: "Get a document",
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
    summary: "Get a passage with its context",
    description:
      "Use the `chunkId` of a source or of a search result. A passage is deleted when its document is processed again or deleted.",
    scope: "kb:read",
    answers: [itemAnswer(passageItemSchema)],
  },
  listImports: {
    method: "GET",
    path: `${PATH}/{id}/imports`,
    tag,
    summary: "List sitemap imports, newest first",
    scope: "kb:read",
    query: listQuery,
    answers: [listAnswer(importItemSchema)],
  },
  getImport: {
    method: "GET",
    path: `${PATH}/{id}/imports/{importId}`,
    tag,
    summary: "Get the progress of a sitemap import",
    scope: "kb:read",
    answers: [itemAnswer(importItemSchema)],
  },
} as const satisfies Record<string, Endpoint>;
