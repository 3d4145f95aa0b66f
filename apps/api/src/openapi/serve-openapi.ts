import { makeFixedAnswer, sendFixedAnswer } from "@svc/http";
import type { Request, RequestHandler } from "express";
import { makeOpenapi } from "./make-openapi.ts";
import { renderDocs } from "./render-docs.ts";

/** Long enough for one reading, so short that a new version is soon seen; after it the `ETag` saves the bytes. */
const CACHE_CONTROL = "public, max-age=60";

/** Makes both answers for one server URL with their headers: the description and the page. */
async function makeAnswers(serverUrl: string) {
  const document = makeOpenapi(serverUrl);
  const { html, policy } = renderDocs(document);
  const [json, page] = await Promise.all([
    makeFixedAnswer(Buffer.from(JSON.stringify(document))),
    makeFixedAnswer(Buffer.from(html)),
  ]);
  return {
    json: {
      answer: json,
      headers: { "Content-Type": "application/json; charset=utf-8", "Cache-Control": CACHE_CONTROL },
    },
    page: {
      answer: page,
      headers: {
        "Content-Type": "text/html; charset=utf-8",
        "Cache-Control": CACHE_CONTROL,
        "Content-Security-Policy": policy,
        "Referrer-Policy": "no-referrer",
      },
    },
  };
}

/**
 * `GET /api/v1/openapi.json` and `GET /api/v1/docs`: the description of the API for programs and for people. No key
 * needed. Both are made and compressed at the first request, and every response shares their bytes. The server that they
 * name is the public URL whose host the request names, else the address at which the API listens.
 */
export function serveOpenapi(addresses: { publicUrls: readonly string[]; findLocalUrl: () => string }): {
  getOpenApi: RequestHandler;
  getDocs: RequestHandler;
} {
  // One for each public URL and one for the local address, so that no stranger's Host header makes another one.
  const answers = new Map<string, ReturnType<typeof makeAnswers>>();

  function find({ host }: Request): ReturnType<typeof makeAnswers> {
    const publicUrl = addresses.publicUrls.find((url) => new URL(url).host === host?.toLowerCase());
    const serverUrl = (publicUrl ?? addresses.findLocalUrl()).replace(/\/+$/, "");
    const known = answers.get(serverUrl);
    if (known !== undefined) return known;
    const made = makeAnswers(serverUrl).catch((error: unknown) => {
      // The next request tries again.
      answers.delete(serverUrl);
      throw error;
    });
    answers.set(serverUrl, made);
    return made;
  }

  const serve = (name: "json" | "page"): RequestHandler => {
    return async (request, response) => {
      const { answer, headers } = (await find(request))[name];
      sendFixedAnswer(request, response, answer, headers);
    };
  };
  return { getOpenApi: serve("json"), getDocs: serve("page") };
}
