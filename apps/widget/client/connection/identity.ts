/** Who the site says that the visitor is; the hash proves it to the server. */
export interface Identity {
  userId: string;
  userHash?: string;
}
