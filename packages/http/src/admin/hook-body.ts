import { HOOK_LIMITS, ServiceError } from "@svc/contracts";
import { parseJson } from "../json-body.ts";
import { isDeeperThan } from "@svc/primitives";
import { invalidForm, parseForm } from "./read-form.ts";

/** Returns the fields of a form as an object: a field that occurs once is a text, a repeated one a list of texts. */
function asObject(fields: readonly (readonly [name: string, value: string])[]): Record<string, unknown> {
  if (fields.length > HOOK_LIMITS.formFieldsMaxCount)
    throw invalidForm(`it has more than ${HOOK_LIMITS.formFieldsMaxCount} fields`);
  const values = new Map<string, string[]>();
  for (const [name, value] of fields) {
    const list = values.get(name);
    if (list === undefined) values.set(name, [value]);
    else list.push(value);
  }
  return Object.fromEntries([...values].map(([name, list]) => [name, list.length === 1 ? list[0] : list]));
}

/** Returns the fields of a body of `application/x-www-form-urlencoded`, as in `asObject`. Throws invalid_request. */
function readUrlEncoded(content: Buffer): Record<string, unknown> {
  return asObject([...new URLSearchParams(content.toString("utf8"))]);
}

/**
 * Returns the fields of a body of `multipart/form-data` (RFC 7578), as in `asObject`, without files. Throws
 * invalid_request if it is not a form or is truncated.
 */
async function readMultipart(content: Buffer, contentType: string): Promise<Record<string, unknown>> {
  const fields: [string, string][] = [];
  const limits = { fields: HOOK_LIMITS.formFieldsMaxCount + 1, fieldSize: HOOK_LIMITS.bodyMaxBytes };
  await parseForm(content, contentType, limits, (parser, fail) => {
    parser.on("field", (name, value) => fields.push([name, value]));
    parser.on("file", (_name, stream) => {
      stream.on("error", (error: Error) => fail(invalidForm(error.message)));
      stream.resume();
    });
  });
  return asObject(fields);
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json$/;
const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]+)/i;
const UTF8_NAMES = new Set(["utf-8", "utf8", "us-ascii"]);

/** Parser of each media type. */
const FORMS: Record<string, (content: Buffer, contentType: string) => unknown> = {
  "application/x-www-form-urlencoded": readUrlEncoded,
  "multipart/form-data": readMultipart,
};

/**
 * Returns the JSON of a form whose only field is `payload`: the format of GitHub and others if they are set to forms.
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
 * Parses a hook's body: JSON as it is, a form as an object of its fields. Throws unsupported_media_type, invalid_json,
 * and invalid_request if it is not a form or is nested too deeply.
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
