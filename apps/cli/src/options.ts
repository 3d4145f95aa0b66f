import { InvalidArgumentError, Option } from "commander";

/** `--json`, which every command with a result has. */
export function jsonOption(): Option {
  return new Option("--json", "print only one JSON document on standard output");
}

function parseUrl(text: string): string {
  if (URL.canParse(text) && ["http:", "https:"].includes(new URL(text).protocol)) return new URL(text).origin;
  throw new InvalidArgumentError("Must be a URL such as http://127.0.0.1:31416.");
}

/** `--url <url>`, which commands have that call the API. */
export function urlOption(): Option {
  return new Option("--url <url>", "URL of the API (default: this machine, port SVC_API_PORT)").argParser(parseUrl);
}

/** `--url <url>` of commands that call the tool server. */
export function toolsUrlOption(): Option {
  return new Option("--url <url>", "URL of the tool server (default: this machine, port SVC_TOOLS_PORT)").argParser(
    parseUrl,
  );
}

/** `--project <name>`, which commands on the data of a project have. */
export function projectOption(): Option {
  return new Option("--project <name>", "project to use").default("default");
}

/** Reads a whole number between two bounds. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d{1,10}$/.test(text) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(`Must be an integer from ${min} to ${max}.`);
  };
}

/** How many a list shows at most; the same as over the HTTP API. */
const LIST_MAX_COUNT = 200;
/** How many a list shows where nothing is said. */
const LIST_DEFAULT_COUNT = 50;

/** `--limit <number>`, which lists have that come in pages. */
export function limitOption(): Option {
  return new Option("--limit <number>", `maximum number of items, at most ${LIST_MAX_COUNT}`)
    .argParser(wholeNumber(1, LIST_MAX_COUNT))
    .default(LIST_DEFAULT_COUNT, String(LIST_DEFAULT_COUNT));
}

/** Reads a number of seconds between two bounds, as whole milliseconds. */
export function secondsBetween(min: number, max: number): (text: string) => number {
  return (text) => {
    const seconds = Number(text);
    if (text.trim() === "" || !(seconds >= min && seconds <= max)) {
      throw new InvalidArgumentError(`Must be a number of seconds from ${min} to ${max}.`);
    }
    return Math.round(seconds * 1_000);
  };
}
