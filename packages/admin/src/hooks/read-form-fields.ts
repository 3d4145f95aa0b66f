import { HOOK_LIMITS } from "@svc/contracts";
import { invalidForm, parseForm } from "../parse-form.ts";

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
export function readUrlEncoded(content: Buffer): Record<string, unknown> {
  return asObject([...new URLSearchParams(content.toString("utf8"))]);
}

/**
 * The fields of a body of `multipart/form-data` (RFC 7578), as `asObject` has them; files are left out. Throws
 * invalid_request for what is no form or was cut.
 */
export async function readMultipart(content: Buffer, contentType: string): Promise<Record<string, unknown>> {
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
