import { HOOK_LIMITS, ServiceError } from "@svc/contracts";
import { parseJson } from "../json-body.ts";
import { isDeeperThan } from "@svc/primitives";
import { invalidForm, parseForm } from "./read-form.ts";

/** The fields of a form as an object: a name that comes once has a text, one that comes again a list of texts. */
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

/** The fields of a body of `application/x-www-form-urlencoded`, as `asObject` has them. Throws invalid_request. */
function readUrlEncoded(content: Buffer): Record<string, unknown> {
  return asObject([...new URLSearchParams(content.toString("utf8"))]);
}

/**
 * The fields of a body of `multipart/form-data` (RFC 7578), as `asObject` has them; files are left out. Throws
 * invalid_request for what is no form or was cut.
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
