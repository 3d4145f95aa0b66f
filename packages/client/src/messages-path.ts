/**
 * Path for sending messages, and prefix of the path for collecting the replies of a chat (service document, sections
 * 4.2 and 4.3).
 */
export const MESSAGES_PATH = "/api/v1/messages";
