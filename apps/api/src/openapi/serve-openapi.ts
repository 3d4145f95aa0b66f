import { createHash } from "node:crypto";
import type { Request, RequestHandler, Response } from "express";
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
 * needed. Both are made when the first of them is asked for, and kept. The server that they name is the public URL by whose
 * host they were asked for, else the address at which the API listens.
 */
export function serveOpenapi(addresses: { publicUrls: readonly string[]; findLocalUrl: () => string }): {
  getOpenApi: RequestHandler;
  getDocs: RequestHandler;
} {
  // One for each public URL and one for the local address, so that no stranger's Host header makes another one.
  const kept = new Map<string, { json: FixedAnswer; page: FixedAnswer }>();
  function make(serverUrl: string) {
    const document = makeOpenapi(serverUrl);
    const { html, policy } = renderDocs(document);
    return {
      json: fixedAnswer(JSON.stringify(document), { "Content-Type": "application/json; charset=utf-8" }),
      page: fixedAnswer(html, {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": policy,
        "Referrer-Policy": "no-referrer",
      }),
    };
  }
  function find({ host }: Request) {
    const publicUrl = addresses.publicUrls.find((url) => new URL(url).host === host?.toLowerCase());
    const serverUrl = (publicUrl ?? addresses.findLocalUrl()).replace(/\/+$/, "");
    const found = kept.get(serverUrl) ?? make(serverUrl);
    kept.set(serverUrl, found);
    return found;
  }
  return {
    getOpenApi: (request, response) => send(response, find(request).json),
    getDocs: (request, response) => send(response, find(request).page),
  };
}
