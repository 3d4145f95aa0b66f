import { createContext, useContext, useEffect, useRef } from "react";
import { useQuery } from "@tanstack/react-query";
import type { QueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { RequiredScope } from "@svc/contracts";
import { mayDo, sessionQuery, colleaguesQuery, actorOf } from "../api/session.ts";
import type { Session } from "../api/session.ts";
import { useTexts } from "../i18n/texts.ts";
import type { Connection, Reach } from "../api/connection.ts";
import type { Live } from "../api/live.ts";
import type { Store } from "../ui/create-store.ts";
import type { Toasts } from "../ui/toasts.tsx";
import type { CommandGroup, CommandRegistry, GroupCommand } from "./command-registry.ts";
import type { OpenTexts } from "./open-texts.ts";
import type { Preferences } from "./preferences.ts";

/** Name of the project that is worked on. */
export const useProject = (): string => useParams({ from: "/$project" }).project;

/** Somebody whom a ticket can be given to. */
export interface Person {
  /** What the server calls them, as in `operator:…`. */
  actor: string;
  name: string;
  isMe: boolean;
  /** False for viewers, to whom no ticket can be assigned. */
  mayWrite: boolean;
}

/** The part of a browser's storage that is used. */
export type KeptTexts = Pick<Storage, "getItem" | "setItem" | "removeItem"> & { keys: () => string[] };

/**
 * The browser's storage, or for as long as the page is open a replacement where the browser allows none. A full
 * storage keeps nothing new.
 */
export function openStorage(find: () => Storage): KeptTexts {
  try {
    const storage = find();
    storage.getItem("");
    return {
      getItem: (key) => storage.getItem(key),
      setItem(key, value) {
        try {
          storage.setItem(key, value);
        } catch {
          // Full: what is typed is still on the page.
        }
      },
      removeItem: (key) => storage.removeItem(key),
      keys: () => Object.keys(storage),
    };
  } catch {
    // Refused by the browser's settings.
    const texts = new Map<string, string>();
    return {
      getItem: (key) => texts.get(key) ?? null,
      setItem: (key, value) => void texts.set(key, value),
      removeItem: (key) => void texts.delete(key),
      keys: () => [...texts.keys()],
    };
  }
}

/** Names this tab of the browser, so that the server tells several of one person apart. Also without a secure context. */
export const TAB_NAME = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) =>
  byte.toString(16).padStart(2, "0"),
).join("");

/** What the pages work with: made once, in main.tsx. */
export interface Services {
  connection: Connection;
  live: Live;
  queryClient: QueryClient;
  reach: Store<Reach>;
  toasts: Toasts;
  commands: CommandRegistry;
  preferences: Store<Preferences>;
  storage: KeptTexts;
  texts: OpenTexts;
}

export const ServicesContext = createContext<Services | null>(null);

/** What the pages work with. Throws outside of the app. */
export function useServices(): Services {
  const services = useContext(ServicesContext);
  if (services === null) throw new Error("useServices is for components within the app.");
  return services;
}

/** Who is signed in. For components within the shell, which is shown to nobody else. */
export function useSession(): Session {
  const { connection } = useServices();
  const { data } = useQuery(sessionQuery(connection));
  if (data === null || data === undefined) throw new Error("useSession is for pages of those who are signed in.");
  return data;
}

/** Tells what may be done in the project that is worked on. */
export function useRights(): (scope: RequiredScope) => boolean {
  const session = useSession();
  const project = useProject();
  return (scope) => mayDo(session, project, scope);
}

/** Who works in the project, oneself first, and the names of those who did something. */
export function usePeople(): { people: Person[]; nameOf: (actor: string) => string; me: string } {
  const { connection } = useServices();
  const { operator } = useSession();
  const project = useProject();
  const { t } = useTexts();
  const { data: colleagues = [] } = useQuery(colleaguesQuery(connection, project));
  const me = actorOf(operator.id);
  const others = colleagues
    .filter(({ id }) => id !== operator.id)
    .map(({ id, mayWrite, name }) => ({ actor: actorOf(id), name, isMe: false, mayWrite }));
  const people = [{ actor: me, name: operator.name, isMe: true, mayWrite: true }, ...others];
  const names = new Map(people.map(({ actor, name }) => [actor, name]));
  return {
    people,
    me,
    nameOf(actor) {
      const name = names.get(actor);
      if (name !== undefined) return name;
      if (actor.startsWith("operator:")) return t("people.someone");
      if (actor.startsWith("key:")) return t("people.key");
      return actor === "pipeline" ? t("people.pipeline") : actor;
    },
  };
}

/** Offers commands of one group while the component is mounted; false for a command that is not available now. */
export function useCommands(group: CommandGroup, commands: readonly (GroupCommand | false)[]): void {
  const { commands: registry } = useServices();
  const current = useRef(commands);
  useEffect(() => {
    current.current = commands;
  });
  useEffect(
    () => registry.add(() => current.current.flatMap((command) => (command === false ? [] : { ...command, group }))),
    [group, registry],
  );
}
