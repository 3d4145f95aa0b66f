import { parseUrl } from "@svc/contracts";

const PLACEHOLDER = /\{([^{}]*)\}/g;
const ONLY_PLACEHOLDER = /^([^=]*)=\{([^{}]*)\}$/;

/** What leaves its part of the path at servers that decode it before they split it, or decode it twice. */
const SEPARATOR = /[/\\\u2044\u2215\u29F5\uFF0F\uFF3C]|%(?:25)*(?:2e|2f|5c)/i;

/** Where a call goes, and the arguments that are not part of that; or what is wrong with the arguments. */
export type FilledUrl = { url: string; rest: Record<string, unknown> } | { fault: string };

type Scalar = string | number | boolean;

const isScalar = (value: unknown): value is Scalar =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean";

/**
 * Puts arguments into a URL template, percent-encoded. No argument can change anything but its own part of the path or
 * the query: one that would lead elsewhere (`..`, a slash, an empty part of a path) is a fault. A parameter of the query that is
 * nothing but an argument which was not given is left out.
 */
export function fillUrl(template: string, given: Readonly<Record<string, unknown>>): FilledUrl {
  const [path = "", ...queries] = template.split("?");
  const rest: Record<string, unknown> = { ...given };
  const faults: string[] = [];

  function textOf(name: string): string {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    delete rest[name];
    if (isScalar(value)) return encodeURIComponent(String(value));
    faults.push(`${name} must be a string or a number, because it is part of the URL`);
    return "";
  }

  const filledPath = path.replaceAll(PLACEHOLDER, (_, name: string) => {
    if (SEPARATOR.test(String(given[name])))
      faults.push(`${name} must not contain a slash, because it is part of the path`);
    const text = textOf(name);
    if (text === "" && faults.length === 0) faults.push(`${name} must not be empty, because it is part of the URL`);
    return text;
  });
  const pairs = queries
    .join("?")
    .split("&")
    .filter((pair) => {
      const name = ONLY_PLACEHOLDER.exec(pair)?.[2];
      return pair !== "" && (name === undefined || (Object.hasOwn(given, name) && given[name] !== null));
    })
    .map((pair) => pair.replaceAll(PLACEHOLDER, (_, name: string) => textOf(name)));
  for (const [, name = ""] of template.matchAll(PLACEHOLDER)) delete rest[name];
  const [fault] = faults;
  if (fault !== undefined) return { fault };
  const url = pairs.length === 0 ? filledPath : `${filledPath}?${pairs.join("&")}`;
  return leadsWhereItSays(url, template)
    ? { url, rest }
    : { fault: "an argument would change the host or path of the URL" };
}

/** False when a part of the path is taken away on reading, as `.` and `..` are, also where they are encoded. */
function leadsWhereItSays(url: string, template: string): boolean {
  const filled = parseUrl(url);
  const plain = parseUrl(template.replaceAll(PLACEHOLDER, "x"));
  if (filled === null || plain === null || filled.origin !== plain.origin) return false;
  const parts = filled.pathname.split("/");
  const wanted = plain.pathname.split("/");
  return parts.length === wanted.length && wanted.every((part, index) => part === "" || parts[index] !== "");
}
