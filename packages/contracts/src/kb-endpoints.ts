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
import { createdAnswer, itemAnswer, listAnswer, listQuery, routesAt } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

const route = routesAt("Knowledge", "/api/v1/admin");

/** Knowledge bases, their documents and search (service document, section 4.4). */
export const kbEndpoints = {
  listKbs: {
    ...route("GET /kb", "kb:read", "List knowledge bases, newest first"),
    query: listQuery,
    answers: [listAnswer(kbItemSchema)],
  },
  createKb: {
    ...route("POST /kb", "kb:write", "Create a knowledge base"),
    body: { schema: kbInputSchema },
    answers: [createdAnswer(kbItemSchema)],
    example: { body: { name: "handbook" } },
  },
  getKb: {
    ...route("GET /kb/{id}", "kb:read", "Get a knowledge base"),
    answers: [itemAnswer(kbItemSchema)],
  },
  updateKb: {
    ...route("PATCH /kb/{id}", "kb:write", "Rename a knowledge base"),
    body: { schema: kbChangeSchema },
    ifMatch: true,
    answers: [itemAnswer(kbItemSchema)],
    example: { body: { name: "handbook 2027" } },
  },
  deleteKb: {
    ...route("DELETE /kb/{id}", "kb:write", "Delete a knowledge base with its documents"),
    description: "It is removed from the agents that use it and disappears from search results immediately.",
    ifMatch: true,
    answers: [itemAnswer(kbItemSchema)],
  },
  searchKb: {
    ...route("GET /kb/{id}/search", "kb:read", "Search a knowledge base"),
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
    ...route("GET /kb/{id}/documents", "kb:read", "List the documents of a knowledge base, newest first"),
    query: listQuery.extend({ status: documentStatusSchema.optional() }),
    answers: [listAnswer(documentItemSchema)],
  },
  addDocuments: {
    ...route("POST /kb/{id}/documents", "kb:write", "Add documents to a knowledge base"),
    description:
      "Send a text, a page URL or the URL of a website or sitemap as JSON, or upload files. Documents are processed in the background. Repeating a key replaces the document.",
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
    errors: ["rate_limited", "storage_full", "storage_quota_exceeded"],
    example: { body: { text: "# Opening hours\n\nWe are open from 9 to 5.", title: "Opening hours", key: "hours" } },
  },
  getDocument: {
    ...route("GET /kb/{id}/documents/{docId}", "kb:read", "Get a document"),
    answers: [itemAnswer(documentItemSchema)],
  },
  deleteDocument: {
    ...route("DELETE /kb/{id}/documents/{docId}", "kb:write", "Delete a document"),
    answers: [itemAnswer(documentItemSchema)],
  },
  getPassage: {
    ...route("GET /passages/{id}", "kb:read", "Get a passage with its context"),
    description:
      "Use the `chunkId` of a source or of a search result. A passage is deleted when its document is processed again or deleted.",
    answers: [itemAnswer(passageItemSchema)],
  },
  listImports: {
    ...route("GET /kb/{id}/imports", "kb:read", "List imports of websites, newest first"),
    query: listQuery,
    answers: [listAnswer(importItemSchema)],
  },
  getImport: {
    ...route("GET /kb/{id}/imports/{importId}", "kb:read", "Get the progress of an import"),
    answers: [itemAnswer(importItemSchema)],
  },
  deleteImport: {
    ...route("DELETE /kb/{id}/imports/{importId}", "kb:write", "Remove a finished import from the list"),
    description: "Its documents stay. An import that is `queued` or `running` is not removed and returns 400.",
    answers: [itemAnswer(importItemSchema)],
  },
} as const satisfies Record<string, Endpoint>;
