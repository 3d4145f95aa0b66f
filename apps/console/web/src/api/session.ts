import { queryOptions } from "@tanstack/react-query";
import { ServiceError } from "@svc/client";
import type {
  RequiredScope,
  SessionAnswer,
  Colleague,
  ColleaguesAnswer,
  Mention,
  MentionsAnswer,
  PublicProfileInput,
  PushAnswer,
  SavedView,
  SavedViewsAnswer,
} from "@svc/contracts";
import type { Connection } from "./connection.ts";

/** The signed-in operator, and the permissions in each project. */
export type Session = SessionAnswer;

/** Ways to sign in besides email address and password. */
export interface SignInWays {
  oidc: { name: string; startUrl: string } | null;
}

async function begin(connection: Connection, path: string, body: unknown): Promise<Session> {
  const session = (await connection.send("POST", path, { body })) as Session;
  connection.setCsrf(session.csrf);
  return session;
}

/** The session of this browser; null without one. */
export const sessionQuery = (connection: Connection) =>
  queryOptions({
    queryKey: ["session"],
    staleTime: Infinity,
    gcTime: Infinity,
    queryFn: async ({ signal }): Promise<Session | null> => {
      try {
        const session = (await connection.send("GET", "/session", { signal })) as Session;
        connection.setCsrf(session.csrf);
        return session;
      } catch (error) {
        if (error instanceof ServiceError && error.status === 401) return null;
        throw error;
      }
    },
  });

/** Signs in. Throws ServiceError for an incorrect email address or password, or after too many attempts. */
export const signIn = (connection: Connection, email: string, password: string): Promise<Session> =>
  begin(connection, "/session", { email, password });

/** Sets a password with a link's token, and signs in; the first administrator also enters name and email address. */
export const openByLink = (
  connection: Connection,
  input: { token: string; password: string; name?: string; email?: string },
): Promise<Session> => begin(connection, "/link", input);

/** Sets whether the operator is on duty: tickets are assigned in turn to operators on duty. */
export const changeDuty = async (connection: Connection, onDuty: boolean): Promise<Session> =>
  (await connection.send("PUT", "/session/duty", { body: { onDuty } })) as Session;

/** Changes the operator's own password; their other sessions end. */
export const changePassword = (
  connection: Connection,
  currentPassword: string,
  newPassword: string,
): Promise<Session> => begin(connection, "/session/password", { currentPassword, newPassword });

/** Sets the operator's own public profile; returns the session with it. */
export const putProfile = async (connection: Connection, profile: PublicProfileInput): Promise<Session> =>
  (await connection.send("PUT", "/session/profile", { body: profile })) as Session;

/** Returns true if the session has the scope in this project. The server checks it again for each call. */
export function mayDo({ projects }: Session, project: string, scope: RequiredScope): boolean {
  const granted = projects.find(({ name }) => name === project)?.scopes ?? [];
  const [resource] = scope.split(":");
  if (granted.includes("admin:*") || granted.includes(scope)) return true;
  return scope !== "admin:*" && granted.includes(`${resource}:*`);
}

/** Returns the operator's id as actor and assignee. */
export const actorOf = (operatorId: string) => `operator:${operatorId}`;

const STALE_MS = 60_000;

/** Operators with a role in a project: for assigning, for mentions, and for the names of actors. */
export const colleaguesQuery = (connection: Connection, project: string) =>
  queryOptions({
    queryKey: ["colleagues", project],
    staleTime: STALE_MS,
    queryFn: async ({ signal }): Promise<Colleague[]> => {
      const answer = await connection.send("GET", "/session/colleagues", { project, signal });
      return (answer as ColleaguesAnswer).items;
    },
  });

/** The notes that mention the signed-in operator, in the tickets of all their projects, newest first. */
export const mentionsQuery = (connection: Connection) =>
  queryOptions({
    queryKey: ["mentions"],
    staleTime: STALE_MS,
    queryFn: async ({ signal }): Promise<Mention[]> => {
      const answer = await connection.send("GET", "/session/mentions", { signal });
      return (answer as MentionsAnswer).items;
    },
  });

const itemsOf = (answer: unknown): SavedView[] => (answer as SavedViewsAnswer).items;

/** Stores a view of the operator, replacing the one with the same name; returns all views. */
export const putView = async (connection: Connection, view: SavedView): Promise<SavedView[]> =>
  itemsOf(await connection.send("PUT", "/session/views", { body: view }));

/** Deletes a view of the operator; returns the others. */
export const deleteView = async (connection: Connection, name: string): Promise<SavedView[]> =>
  itemsOf(await connection.send("DELETE", "/session/views", { query: { name } }));

/** The operator's saved views, of all projects. `prepare` runs before they are read. */
export const viewsQuery = (connection: Connection, operatorId: string, prepare: () => Promise<void>) =>
  queryOptions({
    queryKey: ["views", operatorId],
    queryFn: async ({ signal }): Promise<SavedView[]> => {
      await prepare();
      return itemsOf(await connection.send("GET", "/session/views", { signal }));
    },
  });

/**
 * Returns the push subscription of this browser if it belongs to the signed-in operator. Ends one of another operator
 * who has not signed out here, or one that the server has removed, with its notifications.
 */
export async function findPushSubscription(connection: Connection): Promise<PushSubscription | null> {
  const registration = await navigator.serviceWorker?.getRegistration();
  const subscription = await registration?.pushManager?.getSubscription();
  if (registration === undefined || subscription === null || subscription === undefined) return null;
  const { endpoint } = subscription;
  const { isSubscribed } = (await connection.send("GET", "/session/push", { query: { endpoint } })) as PushAnswer;
  if (isSubscribed) return subscription;
  for (const shown of await registration.getNotifications()) shown.close();
  // An unreachable push service must not prevent signing out.
  await subscription.unsubscribe().catch(() => false);
  return null;
}
