import { Busboy } from "@fastify/busboy";
import type { BusboyConfig } from "@fastify/busboy";
import { ServiceError } from "@svc/contracts";

/** All of the body is there when it is read, so this is long. */
const DEADLINE_MS = 10_000;
const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i;
/** Headers of one part. */
const HEADER_LIMITS = { headerPairs: 20, headerSize: 8 * 1024 };

/** What is wrong with a form, as an error for its sender. */
export const invalidForm = (detail: string) =>
  new ServiceError("invalid_request", `The form is not valid: ${detail}.`, {
    errors: [{ pointer: "", code: "invalid_form", detail }],
  });

/**
 * Parses a body of `multipart/form-data` (RFC 7578) that is there as a whole: `listen` takes what it wants from the
 * parser's events, and ends the parsing by `fail`. Rejects with invalid_request for what is no form or was cut.
 */
export async function parseForm(
  body: Buffer,
  contentType: string,
  limits: NonNullable<BusboyConfig["limits"]>,
  listen: (parser: InstanceType<typeof Busboy>, fail: (error: Error) => void) => void,
): Promise<void> {
  const [, quoted, bare] = BOUNDARY.exec(contentType) ?? [];
  const mark = quoted ?? bare;
  if (mark === undefined) throw invalidForm("Content-Type has no boundary; let your HTTP client set it");
  // Of a body that ends in the middle of a part, parsers make what they like.
  if (!body.includes(`--${mark}--`)) {
    throw invalidForm("the closing boundary is missing; the body is truncated or the boundary is wrong");
  }
  await new Promise<void>((resolve, reject) => {
    // Of some bodies that are no forms the parser waits for more.
    const timer = setTimeout(() => reject(invalidForm("a part is not terminated")), DEADLINE_MS);
    const settle = (finish: () => void) => {
      clearTimeout(timer);
      finish();
    };
    const fail = (error: Error) => settle(() => reject(error));
    const parser = new Busboy({ headers: { "content-type": contentType }, limits: { ...HEADER_LIMITS, ...limits } });
    listen(parser, fail);
    parser.on("error", (error) => fail(invalidForm(error instanceof Error ? error.message : "it cannot be parsed")));
    parser.on("finish", () => settle(resolve));
    parser.end(body);
  });
}
