/** Version of the product, as health and the callbacks name it. */
export const VERSION = "0.1.0";
