import type { ChannelItem } from "@svc/contracts";
import { DEFAULT_PROJECT, ticketIdOf } from "@svc/store";
import type { AgentChange, Project } from "@svc/store";
import { startFakeBotApi, waitFor } from "@svc/testing";
import type { CompositionProcess, FakeBot, FakeBotApi, SentMessage } from "@svc/testing";
import { callApi } from "./call-api.ts";
import { createApiClient } from "./create-api-client.ts";
import { startProduct } from "./start-product.ts";
import type { Product } from "./start-product.ts";

/** The product with its messenger enabled, and the fake Telegram server that it calls. */
export interface MessengerProduct {
  readonly product: Product;
  readonly telegram: FakeBotApi;
  /** The bot whose token is set initially. */
  readonly bot: FakeBot;
  /** The project of its messages. */
  readonly project: Project;
  /** Changes the settings of the channel like an administrator. */
  configure: (change: { enabled?: boolean; config?: { botToken: string | null } }) => Promise<void>;
  readChannel: () => Promise<ChannelItem>;
  /** Waits until the channel meets the condition. */
  untilChannel: (isReached: (channel: ChannelItem) => boolean, what: string) => Promise<ChannelItem>;
  /** Changes the agent that answers and waits until the pipeline uses it. */
  setAgent: (change: AgentChange) => Promise<void>;
  ticketIdOf: (chatId: number) => string;
  /** Waits until a chat has been sent this many messages, and returns all of them. */
  untilSent: (chatId: number, count: number, of?: FakeBot) => Promise<SentMessage[]>;
  /** Returns the process that fetches the updates. */
  findActive: () => CompositionProcess | null;
  /** Stops everything. Must be called in `afterAll`. */
  stop: () => Promise<void>;
}

/** Log lines of a replica when it becomes active for the bot, and when it has lost the lease. */
const ACTIVE = "this replica is now active for the bot";
const LOST_LEASE = "lost the bot lease";

/** Returns when a process became active for the bot, according to its log; "" if it is not active. */
function activeSince(output: string): string {
  const line = output.split("\n").findLast((text) => text.includes(ACTIVE) || text.includes(LOST_LEASE)) ?? "";
  return line.includes(ACTIVE) ? (/"time":"?([\dTZ:.-]+)/.exec(line)?.[1] ?? "") : "";
}

/** Time limit for an expiring lease and a restart on a busy machine. */
const TAKEOVER_MS = 60_000;

/**
 * Starts the product with a bot, whose agent is configured by `agent`, and waits until the bot's updates are fetched.
 */
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

  /** Agents are reloaded once a second; once the API returns the new answer, the messenger does too. */
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
      const since = product.composition.processes.map((process) => ({ process, at: activeSince(process.output()) }));
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

/** Time after which every process has reloaded the agents. */
const AGENTS_READ_MS = 1_500;
