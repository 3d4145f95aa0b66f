import { makeFixedAnswer, sendFixedAnswer } from "@svc/http";
import type { RequestHandler } from "express";
import { makeOpenapi } from "./make-openapi.ts";
import { renderDocs } from "./render-docs.ts";

/** Long enough for one reading, so short that a new version is soon seen; after it the `ETag` saves the bytes. */
const CACHE_CONTROL = "public, max-age=60";

/** Makes both answers with their headers: the description and the page. */
async function makeAnswers() {
  const document = makeOpenapi();
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
 * needed. Both are made and compressed at the first request, and every response shares their bytes.
 */
export function serveOpenapi(): { getOpenApi: RequestHandler; getDocs: RequestHandler } {
  let answers: ReturnType<typeof makeAnswers> | undefined;
  const serve = (name: "json" | "page"): RequestHandler => {
    return async (request, response) => {
      answers ??= makeAnswers().catch((error: unknown) => {
        // The next request tries again.
        answers = undefined;
        throw error;
      });
      const { answer, headers } = (await answers)[name];
      sendFixedAnswer(request, response, answer, headers);
    };
  };
  return { getOpenApi: serve("json"), getDocs: serve("page") };
}
