import { LIST_LIMITS } from "@svc/contracts";
import { InvalidArgumentError, Option } from "commander";

/** An option of a command; the type parameter is that of its value. */
export type TypedOption<Value> = Option & { readonly valueType?: Value };

/** Defines an option with a text as its value. */
export function option(flags: string, description: string): TypedOption<string | undefined>;
/** Defines an option whose value `parse` reads; it throws InvalidArgumentError. */
export function option<Value>(
  flags: string,
  description: string,
  parse: (text: string, before: Value | undefined) => Value,
): TypedOption<Value | undefined>;
export function option<Value>(
  flags: string,
  description: string,
  parse?: (text: string, before: Value | undefined) => Value,
): TypedOption<Value | string | undefined> {
  const made = new Option(flags, description);
  return parse === undefined ? made : made.argParser(parse);
}

/** Defines an option without a value. */
export const flag = (flags: string, description: string): TypedOption<true | undefined> =>
  new Option(flags, description);

/** Defines an option with one of these values. */
export const choice = <const Value extends string>(
  flags: string,
  description: string,
  values: readonly Value[],
): TypedOption<Value | undefined> => new Option(flags, description).choices(values);

/** Defines a repeatable option. */
export const list = (flags: string, description: string): TypedOption<string[] | undefined> =>
  option(flags, `${description} (repeatable)`, (text, before: string[] | undefined) => [...(before ?? []), text]);

/** Adds a default to an option, and how the help shows it. */
export const withDefault = <Value>(
  given: TypedOption<Value>,
  value: Exclude<Value, undefined>,
  shown = String(value),
): TypedOption<Exclude<Value, undefined>> => given.default(value, shown) as Option;

/** Makes an option mandatory. */
export const mandatory = <Value>(given: TypedOption<Value>): TypedOption<Exclude<Value, undefined>> =>
  given.makeOptionMandatory() as Option;

/** Returns true for a URL with http or https. */
export const isHttpUrl = (text: string) => URL.canParse(text) && ["http:", "https:"].includes(new URL(text).protocol);

function parseUrl(text: string): string {
  if (isHttpUrl(text)) return new URL(text).origin;
  throw new InvalidArgumentError("Must be a URL such as http://127.0.0.1:31416.");
}

/** `--url <url>` of commands that call the API. */
export const urlOption = option(
  "--url <url>",
  "URL of the API (default: SVC_URL, else this machine, port SVC_API_PORT)",
  parseUrl,
);

/** `--url <url>` of commands that call the tool server. */
export const toolsUrlOption = option(
  "--url <url>",
  "URL of the tool server (default: this machine, port SVC_TOOLS_PORT)",
  parseUrl,
);

/** `--project <name>` of commands on the data of a project. */
export const projectOption: TypedOption<string> = new Option("--project <name>", "project to use").default("default");

/** `--yes` of commands that ask for confirmation. */
export const yesOption = flag("--yes", "skip the confirmation");

/** Returns a reader of a whole number between two limits. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d{1,10}$/.test(text) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(`Must be an integer from ${min} to ${max}.`);
  };
}

/** `--limit <number>` of lists that have pages. */
export const limitOption = withDefault(
  option(
    "--limit <number>",
    `maximum number of items, at most ${LIST_LIMITS.maxItems}`,
    wholeNumber(1, LIST_LIMITS.maxItems),
  ),
  LIST_LIMITS.defaultItems,
);

/** `--cursor <text>` of lists that have pages. */
export const cursorOption = option("--cursor <text>", "nextCursor of the previous page");

/** `--seen <version>` of commands that decide about a ticket. */
export const seenOption = option(
  "--seen <version>",
  "version of the ticket that you have seen, as shown by tickets show",
  wholeNumber(0, 2 ** 31 - 1),
);

/** Returns a reader of a number from 0 to 1; `example` ends the error. */
export function shareFrom0To1(example = ""): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (text.trim() !== "" && number >= 0 && number <= 1) return number;
    throw new InvalidArgumentError(`Must be a number from 0 to 1${example}.`);
  };
}

/**
 * Returns a reader of a positive whole number with a maximum number of digits, or of one word; `error` lists what is
 * allowed.
 */
export function numberOr<const Word extends string>(word: Word, maxDigits: number, error: string) {
  const number = new RegExp(`^[1-9]\\d{0,${maxDigits - 1}}$`);
  return (text: string): number | Word => {
    if (text === word) return word;
    if (number.test(text)) return Number(text);
    throw new InvalidArgumentError(error);
  };
}

/** Returns a reader of a number of seconds between two limits, as whole milliseconds. */
export function secondsBetween(min: number, max: number): (text: string) => number {
  return (text) => {
    const seconds = Number(text);
    if (text.trim() === "" || !(seconds >= min && seconds <= max)) {
      throw new InvalidArgumentError(`Must be a number of seconds from ${min} to ${max}.`);
    }
    return Math.round(seconds * 1_000);
  };
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** Returns the seconds of a duration such as `90d`, `24h`, `30m`, `45s` or `0`; null if it is invalid. */
export function parseDuration(text: string): number | null {
  if (text === "0") return 0;
  const [, count, unit = ""] = /^(\d{1,9})([a-z])$/.exec(text) ?? [];
  const unitSeconds = UNIT_SECONDS[unit];
  return count === undefined || unitSeconds === undefined ? null : Number(count) * unitSeconds;
}

/** Returns a reader of a duration up to a maximum. */
export function durationUpTo(max: { seconds: number; text: string }): (text: string) => number {
  return (text) => {
    const seconds = parseDuration(text);
    if (seconds !== null && seconds <= max.seconds) return seconds;
    throw new InvalidArgumentError(`Must be a duration such as 24h, 30m, 45s or 0, at most ${max.text}.`);
  };
}

const DATE = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/i;

/**
 * Returns an expiry as RFC 3339: a date means its beginning in UTC, a duration such as `90d` begins now. The
 * operation validates the day.
 */
export function parseExpiry(text: string, now = new Date()): string {
  if (DATE.test(text)) return `${text}T00:00:00Z`;
  if (TIME.test(text)) return text.toUpperCase();
  const seconds = parseDuration(text);
  if (seconds === null || seconds === 0) {
    throw new InvalidArgumentError("Must be a date such as 2030-01-31, an RFC 3339 time, or a duration such as 90d.");
  }
  const time = new Date(now.getTime() + seconds * 1_000);
  if (Number.isNaN(time.getTime())) throw new InvalidArgumentError("Too far in the future.");
  return time.toISOString();
}

type Defined<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

/** Returns the fields that are not undefined, so that omitted options stay omitted. */
export function definedOnly<Fields extends object>(fields: Fields): Defined<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<Fields>;
}
