import { InvalidArgumentError, Option } from "commander";

/** `--json`, which every command with a result has. */
export function jsonOption(): Option {
  return new Option("--json", "one JSON document on standard output, nothing else");
}

function parseUrl(text: string): string {
  if (URL.canParse(text) && ["http:", "https:"].includes(new URL(text).protocol)) return new URL(text).origin;
  throw new InvalidArgumentError("An address such as http://127.0.0.1:31416 is needed.");
}

/** `--url <address>`, which commands have that call the API. */
export function urlOption(): Option {
  return new Option("--url <address>", "where the API is (default: this machine, port SVC_API_PORT)").argParser(
    parseUrl,
  );
}

/** `--url <address>` of commands that call the tool server. */
export function toolsUrlOption(): Option {
  return new Option(
    "--url <address>",
    "where the tool server is (default: this machine, port SVC_TOOLS_PORT)",
  ).argParser(parseUrl);
}

/** `--project <name>`, which commands on the data of a project have. */
export function projectOption(): Option {
  return new Option("--project <name>", "project to work on").default("default");
}

/** Reads a whole number between two bounds. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d{1,10}$/.test(text) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(`A whole number from ${min} to ${max} is needed.`);
  };
}

/** How many a list shows at most; the same as over the HTTP API. */
const LIST_MAX_COUNT = 200;
/** How many a list shows where nothing is said. */
const LIST_DEFAULT_COUNT = 50;

/** `--limit <number>`, which lists have that come in pages. */
export function limitOption(): Option {
  return new Option("--limit <number>", `how many, at most ${LIST_MAX_COUNT}`)
    .argParser(wholeNumber(1, LIST_MAX_COUNT))
    .default(LIST_DEFAULT_COUNT, String(LIST_DEFAULT_COUNT));
}

/** Reads a number of seconds between two bounds, as whole milliseconds. */
export function secondsBetween(min: number, max: number): (text: string) => number {
  return (text) => {
    const seconds = Number(text);
    if (text.trim() === "" || !(seconds >= min && seconds <= max)) {
      throw new InvalidArgumentError(`A number of seconds from ${min} to ${max} is needed.`);
    }
    return Math.round(seconds * 1_000);
  };
}
