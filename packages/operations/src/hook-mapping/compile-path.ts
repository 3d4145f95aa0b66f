import { HOOK_LIMITS, countChars } from "@svc/contracts";
import { JSONPathEnvironment } from "json-p3";
import type { JSONPathQuery, JSONValue } from "json-p3";

/** What paths look into. */
export interface HookDocument {
  /** JSON, or the fields of a form. */
  body: unknown;
  /** Headers that may be used, by their names in lower case. */
  headers: Record<string, string>;
}

/** A JSONPath that can be used. */
export interface CompiledPath {
  /** As it was written. */
  path: string;
  /** What it finds, in the order of the body. Throws TooManyValuesError. */
  find(document: HookDocument): unknown[];
}

/** A path found more than can be meant. */
export class TooManyValuesError extends Error {
  constructor(path: string) {
    super(`${path} matches more than ${VALUES_MAX_COUNT} values`);
    this.name = "TooManyValuesError";
  }
}

const VALUES_MAX_COUNT = 1_000;
const QUOTED = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"/gs;
const HEADERS = /^\$headers(?=[.[])/;

/** Bodies nest less deep than this, see `HOOK_LIMITS.bodyMaxDepth`. */
const ENVIRONMENT = new JSONPathEnvironment({ maxRecursionDepth: HOOK_LIMITS.bodyMaxDepth + 10 });

/** What no path of ours needs and what takes more than one walk over the body. */
function costFault(path: string): string | null {
  const bare = path.replace(QUOTED, "''");
  if ((bare.match(/\.\./g)?.length ?? 0) > 1)
    return "must not contain .. more than once; spell out the fields in between";
  if (bare.lastIndexOf("$") > 0) return "must not refer to $ in a filter; compare only with @ and constants";
  return null;
}

function compileQuery(path: string): JSONPathQuery | string {
  try {
    return ENVIRONMENT.compile(path);
  } catch (error) {
    // Its texts tell a place and what is expected there, of a path that the caller has sent.
    return error instanceof Error ? error.message.slice(0, 300) : "syntax error";
  }
}

/**
 * Reads a JSONPath (RFC 9535), at most 500 characters, with at most one `..` and no `$` in a filter. One that begins
 * with `$headers` looks into the headers, every other one into the body. Answers what is wrong with it as a text.
 */
export function compilePath(path: string): CompiledPath | string {
  if (countChars(path) > HOOK_LIMITS.pathMaxChars)
    return `a path must have at most ${HOOK_LIMITS.pathMaxChars} characters`;
  const isOfHeaders = HEADERS.test(path);
  const own = isOfHeaders ? path.replace(HEADERS, "$") : path;
  if (!own.startsWith("$")) return `${path} is not a JSONPath: it must start with $ or $headers`;
  const cost = costFault(own);
  if (cost !== null) return `${path} ${cost}`;
  const query = compileQuery(own);
  if (typeof query === "string") return `${path} is not a valid JSONPath (RFC 9535): ${query}`;
  return {
    path,
    find({ body, headers }) {
      const values: unknown[] = [];
      for (const node of query.lazyQuery((isOfHeaders ? headers : body) as JSONValue)) {
        if (values.length === VALUES_MAX_COUNT) throw new TooManyValuesError(path);
        values.push(node.value);
      }
      return values;
    },
  };
}
