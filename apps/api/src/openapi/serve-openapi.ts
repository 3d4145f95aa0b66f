import { createHash } from "node:crypto";
import type { RequestHandler, Response } from "express";
import { makeOpenapi } from "./make-openapi.ts";
import { renderDocs } from "./render-docs.ts";

/** Long enough for one reading, so short that a new version is soon seen; after it the `ETag` saves the bytes. */
const CACHE_CONTROL = "public, max-age=60";

/** What the same process answers each time. */
interface FixedAnswer {
  body: string;
  headers: Record<string, string>;
}

function fixedAnswer(body: string, headers: Record<string, string>): FixedAnswer {
  const digest = createHash("sha256").update(body).digest("base64url").slice(0, 22);
  return { body, headers: { ...headers, ETag: `"${digest}"`, "Cache-Control": CACHE_CONTROL } };
}

/** Answers 304 where `If-None-Match` names what is there, as express does of itself. */
const send = (response: Response, { body, headers }: FixedAnswer) => void response.status(200).set(headers).send(body);

/**
 * `GET /api/v1/openapi.json` and `GET /api/v1/docs`: the description of the API for programs and for people. No key
 * needed. Both are made when the first of them is asked for, and kept.
 */
export function serveOpenapi(): { getOpenApi: RequestHandler; getDocs: RequestHandler } {
  let kept: { json: FixedAnswer; page: FixedAnswer } | undefined;
  function find() {
    if (kept !== undefined) return kept;
    const document = makeOpenapi();
    const { html, policy } = renderDocs(document);
    kept = {
      json: fixedAnswer(JSON.stringify(document), { "Content-Type": "application/json; charset=utf-8" }),
      page: fixedAnswer(html, {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": policy,
        "Referrer-Policy": "no-referrer",
      }),
    };
    return kept;
  }
  return {
    getOpenApi: (_request, response) => send(response, find().json),
    getDocs: (_request, response) => send(response, find().page),
  };
}
