import type { Client } from "@modelcontextprotocol/client";
import { z } from "zod";
import { EXIT_OF_STATUS, notRunning, requireSendableKey } from "../api-client.ts";
import type { ApiTarget } from "../api-client.ts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";

const PATH = "/mcp";
/** The revision of the protocol that the tool server of this version speaks; nothing is kept between two calls in it. */
const REVISION = "2026-07-28";

const problemSchema = z.object({ code: z.string(), detail: z.string(), requestId: z.string().optional() });

/** What an HTTP answer of the product says is wrong, before any tool is called; null for every other answer. */
async function findRefusal(response: Response): Promise<CliError | null> {
  if (response.ok || response.headers.get("content-type")?.startsWith("application/problem+json") !== true) return null;
  const problem = problemSchema.safeParse(await response.json());
  if (!problem.success) return null;
  const { code, detail, requestId } = problem.data;
  const trace = response.status >= 500 && requestId !== undefined ? ` (request ${requestId})` : "";
  return new CliError(code, EXIT_OF_STATUS[response.status] ?? EXIT.failed, `${detail}${trace}`);
}

function notThisServer({ url }: ApiTarget, cause: unknown): CliError {
  return new CliError(
    "not_this_product",
    EXIT.notRunning,
    `The server at ${url}${PATH} is not the tool server of this version. Check --url and SVC_TOOLS_PORT.`,
    { cause },
  );
}

/** Is connected to the tool server while it uses it. Throws CliError for every fault, with what to do. */
export async function withTools<Result>(target: ApiTarget, use: (client: Client) => Promise<Result>): Promise<Result> {
  requireSendableKey(target);
  const {
    Client: McpClient,
    ProtocolError,
    StreamableHTTPClientTransport,
  } = await import("@modelcontextprotocol/client");
  // The library says of a failed exchange only that it failed.
  let known: CliError | null = null;
  const explained = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    let response: Response;
    try {
      response = await fetch(url, { ...init, redirect: "error" });
    } catch (error) {
      known = notRunning(target, error);
      throw error;
    }
    const refusal = await findRefusal(response);
    if (refusal === null) return response;
    // The HTTP API and the widget say that there is nothing at this path; the tool server, that the project is unknown.
    const isElsewhere = response.status === 404 && target.project === undefined;
    known = isElsewhere ? notThisServer(target, refusal) : refusal;
    throw known;
  };
  const { url, key, project } = target;
  const transport = new StreamableHTTPClientTransport(new URL(PATH, url), {
    requestInit: { headers: { "X-Api-Key": key, ...(project === undefined ? {} : { "x-svc-project": project }) } },
    fetch: explained,
  });
  const client = new McpClient({ name: "svc", version: "1" }, { versionNegotiation: { mode: { pin: REVISION } } });
  let isConnected = false;
  try {
    await client.connect(transport);
    isConnected = true;
    return await use(client);
  } catch (error) {
    if (known !== null) throw known;
    if (error instanceof ProtocolError && isConnected) {
      throw new CliError("refused", EXIT.failed, error.message, { cause: error });
    }
    throw error instanceof CliError ? error : notThisServer(target, error);
  } finally {
    await client.close();
  }
}
