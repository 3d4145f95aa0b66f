/** Where messages are sent to, and under which each chat has its drain (service document, sections 4.2 and 4.3). */
export const MESSAGES_PATH = "/api/v1/messages";
