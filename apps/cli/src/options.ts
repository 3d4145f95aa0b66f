import { InvalidArgumentError, Option } from "commander";

/** `--json`, which every command with a result has. */
export function jsonOption(): Option {
  return new Option("--json", "one JSON document on standard output, nothing else");
}

/** `--project <name>`, which commands on the data of a project have. */
export function projectOption(): Option {
  return new Option("--project <name>", "project to work on").default("default");
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
