import { DeliveryError, ServiceError } from "@svc/contracts";
import type { Channel, IncomingHandler } from "@svc/contracts";
import type { FollowedBot } from "./follow-bot.ts";
import type { Sender } from "./send/create-sender.ts";

/**
 * The messenger as a channel: between `start` and `stop` it follows the bot of the settings, which `follow` begins. A
 * wrong token, or a Bot API that is away, does not keep it from starting: it is a fault of the started channel.
 */
export function createMessengerChannel(follow: (receive: IncomingHandler) => FollowedBot): Channel {
  let handler: IncomingHandler | null = null;
  let followed: FollowedBot | null = null;

  const receive: IncomingHandler = async (message, context) => {
    if (followed === null || handler === null) {
      throw new ServiceError(
        "unavailable",
        "The messenger channel is disabled. Its updates are processed when it is enabled.",
      );
    }
    return handler(message, context);
  };

  function activeSender(): Sender {
    const bot = followed?.find() ?? null;
    if (bot?.isActive() !== true) throw new DeliveryError("later", "No bot is active in this replica.");
    return bot.sender;
  }

  return {
    id: "messenger",
    start() {
      if (followed !== null) throw new Error("the messenger channel is already started");
      followed = follow(receive);
      return Promise.resolve();
    },
    async stop() {
      const former = followed;
      followed = null;
      await former?.stop();
    },
    onMessage(given) {
      if (handler !== null) throw new Error("the messenger channel already has a handler");
      handler = given;
    },
    async sendMessage(chatId, text, metadata) {
      await activeSender().sendMessage(chatId, text, metadata);
    },
    async sendAttachment(chatId, attachment, context) {
      await activeSender().sendAttachment(chatId, attachment, context);
    },
    async markTyping(chatId, context) {
      const bot = followed?.find() ?? null;
      if (bot?.isActive() === true) await bot.sender.markTyping(chatId, context);
    },
    isActive: () => followed?.find()?.isActive() === true,
    findFault: () => followed?.findFault() ?? null,
  };
}
