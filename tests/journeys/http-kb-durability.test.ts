import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { waitFor, queryDatabase } from "@svc/testing";
import type { CompositionProcess } from "@svc/testing";
import { createKbClient, documentOf } from "./support/create-kb-client.ts";
import type { KbClient } from "./support/create-kb-client.ts";
import { holdKb } from "./support/hold-kb.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

let product: Product;
let kbs: KbClient;
let kbId: string;

beforeAll(async () => {
  product = await startProduct({ replicas: 1 });
  kbs = createKbClient(product);
});

afterAll(() => product.stop());

beforeEach(async () => {
  kbId = (await kbs.makeKb()).id;
});

/** Returns the process that reads documents. */
function findReader(): CompositionProcess {
  const reader = product.composition.processes.find(({ name }) => /standalone|pipeline/.test(name));
  if (reader === undefined) throw new Error("nobody reads documents");
  return reader;
}

/** Makes the lease of a document expire, which a crashed process may still hold. */
const endLease = (documentId: string) =>
  queryDatabase(product.databaseUrl, "UPDATE ingests SET lease_until = now(), due_at = now() WHERE document_id = $1", [
    documentId,
  ]);

const isWorkedOn = (documentId: string) =>
  waitFor(
    async () => {
      const rows = await queryDatabase<{ held: boolean }>(
        product.databaseUrl,
        "SELECT lease_until > now() AS held FROM ingests WHERE document_id = $1",
        [documentId],
      );
      return rows[0]?.held;
    },
    { what: `document ${documentId} to be worked on` },
  );

test("a document whose worker is killed while storing it becomes ready, complete and once", async () => {
  const release = await holdKb(product.databaseUrl, kbId);
  const text = Array.from({ length: 30 }, (_, index) => `## Part ${index}\n\nThe number of it is ${index}.`).join(
    "\n\n",
  );
  const { id } = documentOf(await kbs.add(kbId, { text, key: "killed" }));
  await isWorkedOn(id);
  await findReader().kill("SIGKILL");
  await release();
  await endLease(id);
  await findReader().start();
  expect(await kbs.settled(kbId, id, 40_000)).toMatchObject({ status: "ready", chunks: 30, error: null });
  expect(await kbs.search(kbId, "number of part 7", "&limit=50")).toHaveLength(30);
});

test("a document that is being read at shutdown is released, and read after the next start", async () => {
  const release = await holdKb(product.databaseUrl, kbId);
  const { id } = documentOf(await kbs.add(kbId, { text: "# Stop\n\nThe stop was clean.", key: "stopped" }));
  await isWorkedOn(id);
  const stopping = findReader().kill("SIGTERM");
  await release();
  await stopping;
  await findReader().start();
  expect(await kbs.settled(kbId, id, 40_000)).toMatchObject({ status: "ready" });
});

test("a document whose job was lost is found and read", async () => {
  const release = await holdKb(product.databaseUrl, kbId);
  const { id } = documentOf(await kbs.add(kbId, { text: "# Lost\n\nThe job was lost.", key: "lost" }));
  await isWorkedOn(id);
  // As if its worker had vanished: only its row still exists.
  await queryDatabase(
    product.databaseUrl,
    `UPDATE ingests SET lease_id = gen_random_uuid(), lease_until = now() - interval '1 s', due_at = now()
     WHERE document_id = $1`,
    [id],
  );
  await release();
  expect(await kbs.settled(kbId, id)).toMatchObject({ status: "ready", chunks: 1 });
});
