/** The build replaces this file by one with the commit, or with '' if it runs outside of a git repository. */
export const commit = '' as string;
