import { createHash } from "node:crypto";
import { readUnsubscribeToken } from "@svc/channel-manager";
import type { Store } from "@svc/store";
import type { RequestHandler, Response } from "express";
import texts from "./unsubscribe-texts.json" with { type: "json" };

type Texts = (typeof texts)["en"];

const RIGHT_TO_LEFT = new Set(["ar", "he"]);

const STYLE = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{margin:0;min-height:100vh;display:grid;place-items:center}
main{max-width:26rem;padding:1.5rem;box-sizing:border-box}
h1{font-size:1.25rem;line-height:1.3;margin:0 0 .5rem}
p{margin:0 0 1.25rem}
button{font:inherit;font-weight:600;padding:.6rem 1rem;border:0;border-radius:.5rem;background:#1d4ed8;color:#fff;cursor:pointer}
button:focus-visible{outline:3px solid #60a5fa;outline-offset:2px}`;

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Content of a page: title and text by name, and whether it has the button. */
interface Page {
  title: keyof Texts;
  text: keyof Texts;
  hasButton: boolean;
}

const ASK: Page = { title: "title", text: "text", hasButton: true };
const DONE: Page = { title: "doneTitle", text: "doneText", hasButton: false };
const INVALID: Page = { title: "invalidTitle", text: "invalidText", hasButton: false };

/** Sends a page without scripts, in the language of the query parameter `lang`. It contains only predefined texts. */
function sendPage(response: Response, lang: unknown, { title, text, hasButton }: Page): void {
  const language = typeof lang === "string" && Object.hasOwn(texts, lang) ? lang : "en";
  const known: Readonly<Record<string, Texts>> = texts;
  const words = known[language] ?? texts.en;
  const form = `<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click"><button>${words.button}</button></form>`;
  response
    .set({
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": POLICY,
      "Cache-Control": "no-store",
      // The URL authorizes the unsubscribe request.
      "Referrer-Policy": "no-referrer",
      "X-Robots-Tag": "noindex",
    })
    .send(
      `<!doctype html><html lang="${language}" dir="${RIGHT_TO_LEFT.has(language) ? "rtl" : "ltr"}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${words[title]}</title><style>${STYLE}</style></head><body><main><h1>${words[title]}</h1><p>${words[text]}</p>${hasButton ? form : ""}</main></body></html>`,
    );
}

/** `GET /unsubscribe/:token`: asks first, because mail scanners open every link. Changes nothing. */
export function getUnsubscribePage({ store }: { store: Store }): RequestHandler {
  return (request, response) => {
    const who = readUnsubscribeToken(store.sealer, String(request.params["token"]));
    if (who === null) response.status(404);
    sendPage(response, request.query["lang"], who === null ? INVALID : ASK);
  };
}

/**
 * `POST /unsubscribe/:token`: neither the customer nor the recipient's address gets further emails of the project. Sent
 * by the button of the page, and by mail programs directly (RFC 8058). Idempotent.
 */
export function postUnsubscribe({ store }: { store: Store }): RequestHandler {
  return async (request, response) => {
    const who = readUnsubscribeToken(store.sealer, String(request.params["token"]));
    if (who === null) {
      sendPage(response.status(404), request.query["lang"], INVALID);
      return;
    }
    await store.emailNotifications.unsubscribe(who.project, who.addressHash);
    const customer = await store.customers.find(who.project, who.customerId);
    if (customer !== null && customer.unsubscribedAt === null) {
      await store.customers.update(who.project, { id: customer.id }, { unsubscribed: true });
    }
    sendPage(response, request.query["lang"], DONE);
  };
}
