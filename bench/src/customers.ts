// How long the list and the search of customers take over HTTP with 100,000 customers in one project.
import { randomFrom } from "@svc/testing";
import pg from "pg";
import { KEY } from "./product.ts";
import type { Bench } from "./product.ts";
import { quietestRun } from "./lists.ts";
import { load, printFigure } from "./measure.ts";
import { wordOfRank } from "./search.ts";

const CUSTOMERS = 100_000;
const NAMES = 5_000;
const CONNECTIONS = 2;

/** Customers with two names of some thousand, an address, a number and two attributes, seen within 90 days. */
const INSERT = `WITH made AS (
    INSERT INTO customers (id, project_id, alias, name, email, phone, external_id, attributes, first_seen_at, last_seen_at)
    SELECT gen_random_uuid(), p.id, 'Quiet Otter', initcap(first || ' ' || last), first || '.' || last || n || '@example.org',
      '+49 30 ' || n, 'user-' || n, jsonb_build_object('plan', (ARRAY['free', 'pro', 'team'])[n % 3 + 1], 'seats', n % 50),
      now() - interval '90 days', now() - random() * interval '90 days'
    FROM projects p CROSS JOIN generate_series(1, $2) AS n
    CROSS JOIN LATERAL (SELECT $1::text[] AS names) AS w
    CROSS JOIN LATERAL (SELECT names[n * 7 % ${NAMES} + 1] AS first, names[n * 31 % ${NAMES} + 1] AS last) AS pair
    WHERE p.name = 'default' RETURNING id, project_id, external_id
  )
  INSERT INTO customer_identities (project_id, kind, value, customer_id)
  SELECT project_id, 'user', external_id, id FROM made`;

/** Fills a product with customers, and measures what people look for in them. */
export const measureCustomers = (bench: Bench) =>
  bench.withProduct("customers", { prepareStore: async () => undefined }, async ({ urlsOf, databaseUrl }) => {
    const [url = ""] = urlsOf("api");
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      const names = Array.from({ length: NAMES }, (_, rank) => wordOfRank(rank));
      await client.query(INSERT, [names, CUSTOMERS]);
      await client.query("VACUUM ANALYZE");
    } finally {
      await client.end();
    }
    const random = randomFrom(5);
    const name = () => wordOfRank(Math.floor(random() * NAMES));
    const number = () => 1 + Math.floor(random() * CUSTOMERS);
    const searches: Record<string, () => string> = {
      name: name,
      "first and last name": () => `${name()} ${name()}`,
      "part of an address": () => `${number()}@example`,
      "external ID": () => `user-${number()}`,
      attribute: () => `"seats": ${number() % 50}`,
      "two letters": () => name().slice(0, 2),
      "no customer": () => "zzzzz",
    };
    const pages: Record<string, () => string> = {
      customers: () => "",
      ...Object.fromEntries(
        Object.entries(searches).map(([what, q]) => [
          `customers, q ${what}`,
          () => `?${new URLSearchParams({ q: q() }).toString()}`,
        ]),
      ),
    };
    for (const [what, query] of Object.entries(pages)) {
      const request = {
        url,
        path: () => `/api/v1/admin/customers${query()}`,
        method: "GET" as const,
        headers: { authorization: `Bearer ${KEY}` },
        body: "",
        connections: CONNECTIONS,
      };
      await load(request, 0.5);
      const { p50, p99, bad } = await quietestRun(request, bench.options);
      printFigure(what, `p50 ${p50.toFixed(1)} ms  p99 ${p99.toFixed(1)} ms`, { bad });
    }
  });
