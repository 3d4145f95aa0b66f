import { HOOK_LIMITS, ServiceError } from "@svc/contracts";
import { parseJson } from "@svc/http";
import { isDeeperThan } from "@svc/operations";
import { readMultipart, readUrlEncoded } from "./read-form-fields.ts";

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json$/;
const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]+)/i;
const UTF8_NAMES = new Set(["utf-8", "utf8", "us-ascii"]);

/** How a body of each media type is read. */
const FORMS: Record<string, (content: Buffer, contentType: string) => unknown> = {
  "application/x-www-form-urlencoded": readUrlEncoded,
  "multipart/form-data": readMultipart,
};

/**
 * A form whose only field is `payload` and holds JSON is that JSON: so GitHub and others send what they would send as
 * JSON when they are set to forms.
 */
function unwrapPayload(form: unknown): unknown {
  const entries = Object.entries(form ?? {});
  const [name, value] = entries[0] ?? [];
  if (entries.length !== 1 || name !== "payload" || typeof value !== "string" || !value.trimStart().startsWith("{")) {
    return form;
  }
  return parseJson(Buffer.from(value, "utf8"));
}

/**
 * What a hook's body says: JSON as it is, a form as an object of its fields. Throws unsupported_media_type, invalid_json,
 * and invalid_request for what is no form or nests too deep.
 */
export async function readHookBody(contentType: string, content: Buffer): Promise<unknown> {
  const mediaType = (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
  const charset = CHARSET.exec(contentType)?.[1]?.toLowerCase() ?? "utf-8";
  const readForm = Object.hasOwn(FORMS, mediaType) ? FORMS[mediaType] : undefined;
  const isJson = JSON_TYPE.test(mediaType);
  if ((!isJson && readForm === undefined) || !UTF8_NAMES.has(charset)) {
    throw new ServiceError(
      "unsupported_media_type",
      "Send JSON (application/json) or a form (application/x-www-form-urlencoded, multipart/form-data) in UTF-8.",
    );
  }
  const body = isJson ? parseJson(content) : unwrapPayload(await readForm?.(content, contentType));
  if (!isDeeperThan(body, HOOK_LIMITS.bodyMaxDepth)) return body;
  const detail = `must be at most ${HOOK_LIMITS.bodyMaxDepth} levels deep`;
  throw new ServiceError("invalid_request", `The body is not valid: ${detail}.`, {
    errors: [{ pointer: "", code: "too_deep", detail }],
  });
}
