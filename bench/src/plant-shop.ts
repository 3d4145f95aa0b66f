// A small made-up shop: knowledge, agents, operators, and conversations of some weeks.
import { queryDatabase as query } from "@svc/testing";
import { addOperator } from "./operators.ts";
import { until } from "./processes.ts";

const PROJECT = "kestrel";
const DAY_MS = 86_400_000;

const DOCUMENTS = {
  "Returns and refunds": `# Returns and refunds

## How long you have

You can return drones and accessories within 30 days of delivery. Propellers and batteries must be unused.

## How to return something

Print the label under “My orders”, put it on the parcel and drop it off at any post office. The label is free within the
European Union. Please do not ship batteries by air: use the orange sticker that comes in the box.

## When you get your money back

We inspect returns within two working days. You get your money back to your original payment method within three to five
days.`,
  Shipping: `# Shipping

## Times

We ship on working days. Parcels take two days to Germany, three to six days to the rest of the European Union, and up to
eight days to Switzerland and Norway.

## Prices

Shipping costs 4.90 EUR; it is free for orders of 80 EUR or more. Express shipping within Germany costs 12 EUR and arrives
on the next working day.

## Tracking

The link in our shipping email shows where your parcel is. It works from the evening of the day of shipping.`,
  "Kestrel 2 handbook": `# Kestrel 2

## Batteries

A battery lasts for 26 minutes of flight. It charges in 70 minutes from a wall outlet and in two hours over USB-C. Below
10 °C it lasts for about 18 minutes: keep it warm in a pocket before takeoff.

## Wind and rain

The Kestrel 2 flies in wind of up to 10 m/s. Do not fly it in the rain: land when it starts raining, and let the drone dry
for a day.

## Calibrating the compass

Hold the drone level, open “Sensors”, press “Compass” and turn it twice around each axis, away from cars and steel.

## Lost signal

When the signal is lost for three seconds, the drone climbs to 30 m and flies back to where it took off.`,
  Warranty: `# Warranty

The warranty covers the drone for two years and batteries for six months. It covers defects in materials and workmanship. It
does not cover crashes; for these there is Kestrel Care, which replaces a drone twice within a year.`,
  "Flight rules": `# Rules

## Registration

In the European Union you register as an operator with your aviation authority before the first flight, and put the number
on the drone. The Kestrel 2 weighs 249 g and belongs to class C0.

## Where you may not fly

Do not fly over crowds, near airports or higher than 120 m. The app shows the zones of your country.`,
};

const AGENTS = [
  {
    name: "Parcels and returns",
    description: "Shipping, returns, refunds",
    instructions: "Answer in two or three sentences. Name the number of days whenever the handbook does.",
    // What it is less sure of waits for a person.
    reviewPolicy: "auto_if",
    autoThreshold: 0.9,
    examples: [
      "Where is my parcel?",
      "How long do I have to return it?",
      "The return label does not print",
      "When do I get my money back after a return?",
      "How much is shipping, and how long does it take?",
    ],
  },
  {
    name: "Flight school",
    description: "How the drones work: batteries, wind, sensors, rules",
    instructions: "Be exact with figures. If it is about safety, say so first.",
    reviewPolicy: "auto_if",
    examples: ["How long does the battery last?", "Can I fly in the rain?", "How do I calibrate the compass?"],
  },
];

/** Who has written what, how long ago in hours, on which channel, and what became of it. */
const CONVERSATIONS = [
  ["Mira Holm", "How long do I have to return the drone? I have not opened the box.", 0.1, "widget", {}],
  ["Jonas Weber", "Where is my parcel? The link has shown nothing since Tuesday.", 0.4, "api", { priority: "high" }],
  ["Aiko Tanaka", "Do you ship to Norway, and how long does it take?", 0.9, "widget", {}],
  ["Pablo Ruiz", "When do I get my money back after a return?", 1.6, "messenger", { tags: ["refund"] }],
  [
    "Lena Fischer",
    "The return label does not print. Can you send me another one?",
    2.2,
    "widget",
    { tags: ["return"], assign: "ben", note: "She has ordered twice this month. Please reply **today**." },
  ],
  ["Oscar Lind", "How much is express shipping within Germany?", 3.1, "api", {}],
  [
    "Noor Haddad",
    "Can I return a battery that I have used once?",
    4.5,
    "messenger",
    { priority: "urgent", tags: ["return", "battery"] },
  ],
  ["Tom Baker", "How long does the battery last in the cold?", 6, "widget", { resolve: true }],
  ["Eva Novak", "Can I fly in the rain?", 9, "widget", {}],
  ["Sam Okafor", "How do I calibrate the compass?", 14, "api", { resolve: true }],
  ["Ines Costa", "What does the warranty cover?", 20, "widget", { resolve: true }],
  ["Marek Zielinski", "Do you have spare propellers in orange?", 26, "widget", {}],
  ["Hanna Berg", "Do you have orange propellers?", 30, "widget", {}],
  ["Luca Rossi", "Can I pay in three installments?", 34, "api", {}],
  ["Yara Silva", "Can I pay by installments?", 41, "widget", {}],
  ["Best SEO Offers", "We bring your shop to page one of every search engine. Reply now!", 44, "api", { spam: true }],
  ["Finn Olsen", "Where does the drone fly when the signal is lost?", 50, "widget", { resolve: true }],
  [
    "Greta Stein",
    "My parcel came without the charger.",
    55,
    "api",
    {
      assign: "ann",
      priority: "high",
      reply: "I’m sorry about that. We are shipping a charger today, and you will get the tracking link this evening.",
    },
  ],
  ["Omar Farouk", "How high can I fly?", 70, "messenger", { resolve: true }],
  ["Ida Moen", "How long does shipping to Switzerland take?", 92, "widget", { resolve: true }],
];

/** What was asked in the weeks before, again and again, by whom. */
const OFTEN = [
  "How long does shipping to France take?",
  "How much is express shipping within Germany?",
  "When do I get my money back after a return?",
  "How long does a battery last?",
  "Can I fly in the rain?",
  "How do I calibrate the compass?",
  "What does the warranty cover?",
  "How high can I fly?",
];
const VISITORS = ["Alva", "Bruno", "Clara", "Dario", "Elin", "Farid", "Gina", "Hugo"];
const OLDEST_DAY = 29;
const EARLIER = Array.from({ length: OLDEST_DAY - 4 }, (_, index) => OLDEST_DAY - index).flatMap((day) =>
  // More on some days than on others.
  Array.from({ length: 1 + ((day * 7) % 4) }, (_, index) => {
    const number = day * 3 + index;
    const hours = day * 24 - index * 3;
    const channel = ["widget", "api", "widget", "messenger"][number % 4];
    return [
      `${VISITORS[number % VISITORS.length]} ${day}`,
      OFTEN[number % OFTEN.length],
      hours,
      channel,
      // What operators do with a draft, and now and then a bad rating.
      {
        draft: ["approve", "approve", "edit", "approve", "reject"][number % 5],
        isBad: number % 11 === 4,
        resolve: true,
      },
    ];
  }),
);

/** What meetings have left to do, as an MCP client submits it. */
const TASKS = [
  {
    title: "Checkout shows the old shipping prices",
    description:
      "Since Friday the checkout charges 5.90 EUR for a parcel, while the help page says 4.90 EUR. Two customers have complained. Check the price table in the shop.",
    severity: "high",
    source: "Standup 23 Nov",
  },
  {
    title: "Order 40 orange propellers for the winter sale",
    description: "Order 40 orange propellers for the winter sale",
    source: "Standup 23 Nov",
  },
];

/** Customers who say nothing of themselves. */
const NAMELESS = ["Hanna Berg", "Best SEO Offers"];

/** Who somebody is, as each channel says it. */
function identityOf(name, channelId) {
  if (NAMELESS.includes(name)) return { meta: {} };
  const email = `${name.toLowerCase().replaceAll(" ", ".")}@example.org`;
  if (channelId === "widget") return { meta: { contact: { name, email } } };
  if (channelId === "messenger") return { meta: { telegram: { chatType: "private", from: { name } } } };
  return { userId: email, meta: { name, email } };
}

/** Submits an issue as an MCP client does. */
async function submitTask(product, task) {
  const answer = await fetch(`${product.toolsUrl}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${product.adminKey}`,
      "x-svc-project": PROJECT,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "svc_submit_issue", arguments: { clientIssueId: task.title, ...task } },
    }),
  });
  const text = await answer.text();
  if (!answer.ok || !text.includes("ticketId")) throw new Error(`svc_submit_issue: ${answer.status} ${text}`);
}

const daysAgo = (days) => new Date(Date.now() - days * DAY_MS);

/** Puts what happened to a ticket so many hours back. */
async function moveBack({ databaseUrl }, ticketId, hours) {
  const columns = {
    tickets: { key: "id", times: ["created_at", "updated_at", "first_reply_at", "resolved_at"] },
    messages: { key: "ticket_id", times: ["created_at", "finished_at"] },
    replies: { key: "ticket_id", times: ["created_at", "delivered_at"] },
    ticket_events: { key: "ticket_id", times: ["at"] },
    drafts: { key: "ticket_id", times: ["created_at"] },
  };
  for (const [table, { key, times }] of Object.entries(columns)) {
    const sets = times.map((column) => `${column} = ${column} - make_interval(secs => $2)`).join(", ");
    await query(databaseUrl, `UPDATE ${table} SET ${sets} WHERE ${key} = $1`, [ticketId, hours * 3_600]);
  }
}

/** Fills a product that runs. Answers where to look: the project, a ticket in review, a base, an agent, and who signs in. */
export async function plantShop(product) {
  const { databaseUrl } = product;
  const call = (method, path, json) => product.call(method, path, { project: PROJECT, json });
  const store = product.openStore();
  const people = {
    ann: { name: "Ann Able", email: "ann@kestrel.example" },
    ben: { name: "Ben Bright", email: "ben@kestrel.example" },
    cleo: { name: "Cleo Clay", email: "cleo@kestrel.example" },
  };
  await product.call("POST", "/projects", { json: { name: PROJECT } });
  const project = await store.projects.findByName(PROJECT);
  const roles = {
    ann: [{ project: null, role: "administrator" }],
    ben: [{ project: project.id, role: "operator" }],
    cleo: [{ project: project.id, role: "viewer" }],
  };
  const ids = {};
  for (const [key, person] of Object.entries(people)) {
    ids[key] = (await addOperator(store, { ...person, roles: roles[key] })).id;
  }
  await store.close();
  await query(databaseUrl, "UPDATE api_keys SET rate_limit = 0");

  const kb = (await call("POST", "/admin/kb", { name: "Shop handbook" })).item;
  const team = (await call("POST", "/admin/kb", { name: "Team notes" })).item;
  for (const [title, text] of Object.entries(DOCUMENTS)) {
    await call("POST", `/admin/kb/${kb.id}/documents`, { title, text, mime: "text/markdown" });
  }
  await call("POST", `/admin/kb/${team.id}/documents`, {
    title: "How we write",
    text: "# How we write\n\nFriendly, short, with figures.",
  });
  await until("the documents", async () => {
    const { items } = await call("GET", `/admin/kb/${kb.id}/documents`);
    return items.every(({ status }) => status === "ready");
  });
  const agents = [];
  for (const agent of AGENTS) agents.push((await call("POST", "/admin/agents", { ...agent, kbIds: [kb.id] })).item);
  await new Promise((resolve) => setTimeout(resolve, 1_500));

  // From the oldest to the newest, so that the list has them in their order.
  let shown = null;
  for (const [name, text, hours, channelId, more] of [...EARLIER, ...CONVERSATIONS.toReversed()]) {
    const chatId = `${channelId}-${name.toLowerCase().replaceAll(" ", "-")}`;
    const { meta, ...identity } = identityOf(name, channelId);
    const sent = await call("POST", "/messages", {
      text,
      ...identity,
      chatId,
      mode: "async",
      meta: { ...meta, page: "https://kestrel.example/help", order: `K-${2_000 + Math.round(hours * 7)}` },
    });
    const { ticketId } = sent;
    const read = async () => (await call("GET", `/admin/tickets/${ticketId}`)).item;
    await until(`the answer to ${name}`, async () => ["done", "review"].includes((await read()).stage));
    const decide = (action, json) => call("POST", `/admin/tickets/${ticketId}/${action}`, json);
    if (more.draft !== undefined && (await read()).draft?.text) {
      await product.call("POST", `/admin/tickets/${ticketId}/${more.draft}`, {
        project: PROJECT,
        json: more.draft === "edit" ? { text: "It takes three to six days." } : {},
        headers: { "if-match": `"${(await read()).version}"` },
      });
      await until(`the reply to ${name}`, async () => (await read()).stage === "done");
    }
    if (more.isBad === true) {
      await query(
        databaseUrl,
        `INSERT INTO ticket_events (ticket_id, project_id, actor, data, answer_step)
         VALUES ($1, $2, 'visitor', '{"decision":"rate","score":2}', 'badRating')`,
        [ticketId, project.id],
      );
    }
    if (more.note !== undefined) await decide("note", { text: more.note });
    if (more.reply !== undefined) await decide("reply", { text: more.reply });
    if (more.assign !== undefined) await decide("assign", { assignee: `operator:${ids[more.assign]}` });
    if (more.tags !== undefined || more.priority !== undefined) {
      const change = {
        ...(more.tags === undefined ? {} : { tags: more.tags }),
        ...(more.priority === undefined ? {} : { priority: more.priority }),
      };
      await call("PATCH", `/admin/tickets/${ticketId}`, change);
    }
    if (more.resolve === true || more.spam === true) {
      await until(`${name} to be at rest`, async () => {
        await product.call("POST", `/admin/tickets/${ticketId}/resolve`, {
          project: PROJECT,
          json: { status: more.spam === true ? "spam" : "resolved" },
          headers: { "if-match": `"${(await read()).version}"` },
        });
        return true;
      });
    }
    await query(databaseUrl, "UPDATE tickets SET channel_id = $2 WHERE id = $1", [ticketId, channelId]);
    await moveBack(product, ticketId, hours);
    if (name === "Jonas Weber") shown = ticketId;
  }

  for (const task of TASKS) await submitTask(product, task);
  const [task] = (await call("GET", "/admin/tickets?origin=tool-server")).items.filter(
    ({ priority }) => priority === "high",
  );

  // Lists follow what happens in the background; what was put back in time they have to be told of.
  await until("the lists to follow", async () => {
    const [row] = await query(
      databaseUrl,
      "SELECT settled_id = (SELECT max(id) FROM ticket_events) AS is_done FROM ticket_index",
    );
    return row.is_done;
  });
  await query(
    databaseUrl,
    `UPDATE ticket_list l SET channel_id = t.channel_id,
       created_us = (extract(epoch FROM t.created_at) * 1000000)::bigint,
       updated_us = (extract(epoch FROM t.updated_at) * 1000000)::bigint,
       urgency = l.urgency - l.updated_us / 1000 + (extract(epoch FROM t.updated_at) * 1000)::bigint
     FROM tickets t WHERE t.id = l.ticket_id`,
  );

  // What an operator has changed in a draft, as a proposal for the knowledge.
  await query(
    databaseUrl,
    `INSERT INTO proposals (id, project_id, kb_id, ticket_id, action, title, question, before, after, created_by, created_at)
     VALUES (gen_random_uuid(), $1, $2, $3, 'add', 'Returning used batteries', 'Can I return a battery that I have used once?',
       'Propellers and batteries must be unused.',
       'A battery that was charged once can be returned within 30 days, unless it was in a drone that crashed.', $4, $5)`,
    [project.id, kb.id, shown, `operator:${ids.ben}`, daysAgo(1)],
  );
  for (const name of ["Web shop", "Nightly export"]) {
    await product.call("POST", "/admin/keys", {
      json: { name, scopes: ["messages:write", "messages:read"], project: PROJECT },
    });
  }
  await product.call("PUT", "/admin/channels/widget", {
    json: {
      enabled: true,
      config: {
        project: PROJECT,
        title: "Kestrel Drones",
        color: "#0f766e",
        allowedOrigins: ["https://kestrel.example"],
      },
    },
  });
  await call("POST", "/messages", {
    text: "How much is express shipping?",
    chatId: "callback",
    userId: "Nightly import",
    webhookUrl: "http://127.0.0.1:9/callback",
  });
  return {
    project: PROJECT,
    ticketId: shown,
    taskId: task.id,
    kbId: kb.id,
    agentId: agents[0].id,
    email: people.ann.email,
  };
}
