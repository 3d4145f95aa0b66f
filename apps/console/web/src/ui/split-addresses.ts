/** A web address in a text, without the punctuation behind it. */
const WEB_ADDRESS = /(https?:\/\/[^\s<>"]*[^\s<>"'.,;:!?)\]}])/i;

/** Returns the parts of a text in their order: every other one, from the second on, is a web address. */
export const splitAddresses = (text: string): string[] => text.split(WEB_ADDRESS);
