import { isUuid } from "@svc/primitives";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./exit-codes.ts";

/**
 * Throws CliError `usage` for a text that cannot be an id. `what` begins the text, as in `A delivery id`, and
 * `whereShown` is the command that shows them.
 */
export function requireId(text: string, what: string, whereShown: string): void {
  if (!isUuid(text)) throw new CliError("usage", EXIT.usage, `${what} must be a UUID, as shown by ${whereShown}.`);
}
