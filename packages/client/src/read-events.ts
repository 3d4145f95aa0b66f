import type { Wait } from "./try-call.ts";

/** A server-sent event (HTML standard, "Server-sent events"). */
export interface ServerEvent {
  type: string;
  data: string;
  /** ID from which an interrupted stream resumes. Absent if the event has none. */
  id?: string;
}

const END = "\n\n";

/** Returns one event, or null if the lines are a comment or a reconnection time. */
function parseEvent(lines: string): ServerEvent | null {
  const event: Omit<ServerEvent, "data"> = { type: "message" };
  const data: string[] = [];
  for (const line of lines.split("\n")) {
    // Not with a regular expression: its dot does not match other line separators, which may occur in any text.
    const [field = ""] = line.split(":", 1);
    const value = line.slice(field.length + 1).replace(/^ /, "");
    if (field === "event") event.type = value;
    if (field === "data") data.push(value);
    if (field === "id") event.id = value;
  }
  const text = data.join("\n");
  return text === "" ? null : { ...event, data: text };
}

/** Yields the chunks of a body as they arrive, or all at once if the platform does not support streaming. */
async function* piecesOf(response: Response, wait: Wait): AsyncGenerator<string, void, undefined> {
  if (response.body === null) {
    yield await wait(response.text());
    return;
  }
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  for (let read = await wait(reader.read()); !read.done; read = await wait(reader.read())) {
    yield decoder.decode(read.value, { stream: true });
  }
}

/** Yields the events of a response as they arrive, with data on one or several lines. */
export async function* readEvents(response: Response, wait: Wait): AsyncGenerator<ServerEvent, void, undefined> {
  let rest = "";
  for await (const piece of piecesOf(response, wait)) {
    const from = Math.max(0, rest.length - 1);
    rest += piece.replaceAll("\r", "");
    for (let end = rest.indexOf(END, from); end >= 0; end = rest.indexOf(END)) {
      const event = parseEvent(rest.slice(0, end));
      rest = rest.slice(end + END.length);
      if (event !== null) yield event;
    }
  }
}
