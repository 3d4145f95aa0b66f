import { createHookIntake } from "@svc/admin";
import type { HookIntakeContext } from "@svc/admin";
import { acceptMessage } from "@svc/channel-manager";
import { ServiceError } from "@svc/contracts";
import type { Channel } from "@svc/contracts";
import type { AddressGuard } from "@svc/outbound";
import type { Resources } from "@svc/runtime";

const neverHere = () => Promise.reject(new Error("replies on the HTTP API channel are announced by its own processes"));

/** The HTTP API's channel, as far as a message that is taken here needs it: its replies are announced where it runs. */
const API_CHANNEL: Channel = {
  id: "api",
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
  onMessage: () => undefined,
  sendMessage: neverHere,
  sendAttachment: neverHere,
};

/** Makes what tries the body of a hook again: as the HTTP API would take it that moment. */
export function createBodyTaker(resources: Resources, guard: AddressGuard): ReturnType<typeof createHookIntake> {
  const { store } = resources;
  const receive: HookIntakeContext["receive"] = async (message, context) => {
    const { enabled } = await store.channelsConfig.read();
    if (!enabled.includes("api")) {
      throw new ServiceError("channel_disabled", "The HTTP API channel is disabled. Enable it under Integrations.", {
        headers: { "Retry-After": "30" },
      });
    }
    return acceptMessage(resources, API_CHANNEL, message, context);
  };
  const readSettings = async () => (await store.channelsConfig.read()).api.config;
  return createHookIntake({ store, guard, readSettings, receive });
}
