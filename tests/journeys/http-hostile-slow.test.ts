import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { addProject } from "./support/add-project.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { expectDecent } from "./support/expect-decent.ts";
import { expectHealthy } from "./support/expect-healthy.ts";
import { openRawConnection } from "./support/open-raw-connection.ts";
import type { RawConnection } from "./support/open-raw-connection.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const FIXED = "This is always the answer.";
/** Interval between writes, short enough that no connection is ever idle. */
const DRIP_MS = 500;
/** Longer than every deadline of the service, the longest being 30 s. */
const TIMEOUT_MS = 50_000;

let product: Product;
let api: ApiClient;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  await addProject(product.store, "fixed", { fixedReply: FIXED });
});

afterAll(() => product.stop());

/** Opens a connection, writes the beginning, and then a little at a time until the other side closes it. */
async function drip(beginning: string, drop: string): Promise<RawConnection> {
  const connection = await openRawConnection(api.baseUrl());
  connection.write(beginning);
  const timer = setInterval(() => {
    if (connection.isClosed()) clearInterval(timer);
    else connection.write(drop);
  }, DRIP_MS);
  timer.unref();
  return connection;
}

/** Makes normal calls, and checks that the service responds as usual. */
async function serveOthersUntil(isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    expect((await api.send("fixed", { text: "hello" })).texts).toEqual([FIXED]);
    expect((await api.drain("fixed", "nothing-comes", "?wait=2000")).status).toBe(200);
  }
}

test("callers that never finish get an error and are disconnected, and block no one else", async () => {
  const keyed = `POST /api/v1/messages HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${product.adminKey}\r\nx-svc-project: fixed\r\n`;
  const head = `${keyed}Content-Type: application/json\r\n`;
  const slow = await Promise.all([
    // Headers: the limit is 10 s.
    drip("GET /api/v1/health HTTP/1.1\r\nHost: x\r\n", "X-More: more\r\n"),
    drip("GET /api/v1/health HTTP/1.1\r\nHost: x\r\nX-Long: ", "x"),
    drip("G", ""),
    drip("\r\n", "\r\n"),
    // Bodies: the limit is 30 s.
    drip(`${head}Content-Length: 1000\r\n\r\n{"text":"`, "x"),
    drip(`${head}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`, "1\r\n \r\n"),
    drip(`${head}Content-Length: 1000\r\nExpect: 100-continue\r\n\r\n`, ""),
    drip(`${keyed}Content-Type: text/plain\r\nContent-Length: 1000\r\n\r\n`, "x"),
  ]);
  try {
    const closing = Promise.all(slow.map((connection) => connection.closed({ timeoutMs: TIMEOUT_MS })));
    let areClosed = false;
    const noted = closing.finally(() => (areClosed = true));
    await serveOthersUntil(() => areClosed);
    const ends = await noted;
    for (const { answers } of ends) for (const answer of answers) expectDecent(answer);
    const [wrongType, ...others] = ends.map(({ answers }) => answers.map(({ status }) => status)).toReversed();
    expect(others).toEqual(others.map(() => [408]));
    // A request that is rejected early gets its response without a delay.
    expect(wrongType?.[0]).toBe(415);
  } finally {
    for (const connection of slow) connection.hangUp();
  }
  await expectHealthy(product);
}, 120_000);
