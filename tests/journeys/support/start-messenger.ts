import type { ChannelItem } from "@svc/contracts";
import { DEFAULT_PROJECT, ticketIdOf } from "@svc/store";
import type { AgentChange, Project } from "@svc/store";
import { startFakeBotApi, waitFor } from "@svc/testing";
import type { CompositionProcess, FakeBot, FakeBotApi, SentMessage } from "@svc/testing";
import { callApi } from "./call-api.ts";
import { createApiClient } from "./create-api-client.ts";
import { startProduct } from "./start-product.ts";
import type { Product } from "./start-product.ts";

/** The product with its messenger switched on, and the Telegram that it talks to. */
export interface MessengerProduct {
  readonly product: Product;
  readonly telegram: FakeBotApi;
  /** The bot whose token is set at the start. */
  readonly bot: FakeBot;
  /** The project that its messages belong to. */
  readonly project: Project;
  /** Changes the settings of the channel as an administrator does. */
  configure: (change: { enabled?: boolean; config?: { botToken: string | null } }) => Promise<void>;
  readChannel: () => Promise<ChannelItem>;
  /** Waits until the channel says what is asked for. */
  untilChannel: (isReached: (channel: ChannelItem) => boolean, what: string) => Promise<ChannelItem>;
  /** Changes the agent that answers and waits until the pipeline has it. */
  setAgent: (change: AgentChange) => Promise<void>;
  ticketIdOf: (chatId: number) => string;
  /** Waits until a chat has been sent so many messages, and answers them all. */
  untilSent: (chatId: number, count: number, of?: FakeBot) => Promise<SentMessage[]>;
  /** The process that fetches the updates. */
  findActive: () => CompositionProcess | null;
  /** Ends everything. To be called in `afterAll`. */
  stop: () => Promise<void>;
}

/** What a replica logs when it begins to work for the bot, and when it has lost that. */
const WORKS = "this replica is now active for the bot";
const STANDS_BY = "lost the bot lease";

/** When a process began to work for the bot, as its log says it; "" for one that does not. */
function worksSince(output: string): string {
  const line = output.split("\n").findLast((text) => text.includes(WORKS) || text.includes(STANDS_BY)) ?? "";
  return line.includes(WORKS) ? (/"time":"?([\dTZ:.-]+)/.exec(line)?.[1] ?? "") : "";
}

/** A lease that nobody gives back, and a restart on a busy machine. */
const TAKEOVER_MS = 60_000;

/** Starts the product with a bot, whose agent says what `agent` asks for, and waits until the bot's updates are fetched. */
export async function startMessenger(
  options: Parameters<typeof startProduct>[0] & { agent?: AgentChange } = {},
): Promise<MessengerProduct> {
  const { agent, env, ...rest } = options;
  const telegram = await startFakeBotApi();
  let product: Product;
  try {
    product = await startProduct({
      apps: ["messenger"],
      ...rest,
      env: { SVC_TELEGRAM_API_ROOT: telegram.url, ...env },
    });
  } catch (error) {
    await telegram.close();
    throw error;
  }
  const stop = async () => {
    try {
      await product.stop();
    } finally {
      await telegram.close();
    }
  };
  const bot = telegram.addBot({ username: "acme_support_bot" });
  const { project } = await product.store.projects.ensure(DEFAULT_PROJECT);
  const api = createApiClient(product);

  async function callChannel(json?: unknown): Promise<ChannelItem> {
    const answer = await callApi(`${api.baseUrl()}/api/v1/admin/channels/messenger`, {
      key: product.adminKey,
      ...(json === undefined ? {} : { method: "PUT", json }),
    });
    if (answer.status !== 200) throw new Error(`the channel answers ${answer.status}: ${answer.text}`);
    return (answer.body as unknown as { item: ChannelItem }).item;
  }

  /** Agents are read once a second; what the API is answered, the messenger is answered too. */
  async function setAgent(change: AgentChange): Promise<void> {
    const [present] = await product.store.agents.list(project.id);
    if (present === undefined) throw new Error("there is no agent");
    const { version } = (await product.store.agents.update(project.id, { id: present.id }, change)).agent ?? present;
    const readAt = performance.now();
    await waitFor(() => performance.now() - readAt > AGENTS_READ_MS, { what: `version ${version} to be read` });
  }

  const running = {
    product,
    telegram,
    bot,
    project,
    configure: async (change: object) => void (await callChannel(change)),
    readChannel: () => callChannel(),
    async untilChannel(isReached: (channel: ChannelItem) => boolean, what: string) {
      let seen: ChannelItem | null = null;
      return waitFor(
        async () => {
          seen = await callChannel();
          return isReached(seen) ? seen : null;
        },
        { what: () => `the channel to ${what}; it is ${JSON.stringify(seen)}`, timeoutMs: TAKEOVER_MS },
      );
    },
    setAgent,
    ticketIdOf: (chatId: number) => ticketIdOf(project.id, "messenger", String(chatId)),
    untilSent: (chatId: number, count: number, of: FakeBot = bot) =>
      waitFor(() => (of.sentTo(chatId).length >= count ? of.sentTo(chatId) : null), {
        what: () =>
          `${count} messages to ${chatId}; there are ${JSON.stringify(of.sentTo(chatId).map(({ text }) => text))}`,
        timeoutMs: TAKEOVER_MS,
      }),
    findActive() {
      const since = product.composition.processes.map((process) => ({ process, at: worksSince(process.output()) }));
      const [latest] = since.toSorted((one, other) => other.at.localeCompare(one.at));
      return latest === undefined || latest.at === "" ? null : latest.process;
    },
    stop,
  };
  try {
    if (agent !== undefined) await setAgent(agent);
    await running.configure({ enabled: true, config: { botToken: bot.token } });
    await waitFor(() => bot.isPolled(), { what: "the bot's updates to be fetched", timeoutMs: TAKEOVER_MS });
  } catch (error) {
    await stop();
    throw error;
  }
  return running;
}

/** After so long every process has read the agents anew. */
const AGENTS_READ_MS = 1_500;
