/** The properties of a flag that are the same in all commands. */
export interface Flag {
  /** What the help calls the value. A flag without a value is a switch. */
  readonly value?: string;
  /** The value must be an integer from 0 to this maximum. */
  readonly max?: number;
  readonly words?: readonly string[];
  readonly fallback?: string;
  /** What the help shows as the default if there is no `fallback`. Without either, a flag with a value is required. */
  readonly absent?: string;
  /** `false` if the flag has no environment variable. By default, `--admin-port` has PLANT_STORE_ADMIN_PORT. */
  readonly variable?: false;
  /** The variable that hosting platforms set. PLANT_STORE_… takes precedence. */
  readonly platform?: string;
}

export interface Command {
  readonly operand?: string;
  /** The first sentence is also part of the general help. */
  readonly about: string;
  /** The flags of the command, and what each does. */
  readonly flags: Readonly<Record<string, string>>;
}

export const flags = {
  host: { value: 'HOST', fallback: '127.0.0.1' },
  port: { value: 'PORT', max: 65_535, fallback: '3000', platform: 'PORT' },
  storage: { value: 'STORAGE', fallback: 'sqlite:plants.db', platform: 'DATABASE_URL' },
  create: {},
  tokens: { value: 'FILE', fallback: 'tokens.json' },
  'base-path': { value: 'PATH', absent: 'none' },
  'cors-origin': { value: 'LIST', absent: 'none' },
  'trusted-proxies': { value: 'N', max: 99, fallback: '0' },
  'admin-port': { value: 'PORT', max: 65_535, absent: 'off' },
  'admin-host': { value: 'HOST', absent: '127.0.0.1' },
  'drain-delay': { value: 'SECONDS', max: 3600, fallback: '0' },
  log: { value: 'FORMAT', words: ['json', 'pretty'], absent: 'pretty on a terminal, else json' },
  'log-level': { value: 'LEVEL', words: ['info', 'error'], fallback: 'info' },
  docs: {},
  scope: { value: 'LIST', variable: false, absent: 'both' },
  'expires-in': { value: 'TIME', variable: false, absent: 'never' },
  from: { value: 'STORAGE', variable: false },
  to: { value: 'STORAGE', variable: false },
} as const;

export const commands = {
  serve: {
    about: `Runs the HTTP service. On SIGINT or SIGTERM, the server finishes the requests in progress and exits. SIGHUP
      has the same effect, but only on a terminal.`,
    flags: {
      host: 'the address to listen on',
      port: 'the port to listen on; 0 selects a free port',
      storage: `sqlite:FILE, sqlite:FILE?commitThread=true, memory or postgres://USER:PASSWORD@HOST/DATABASE, with
        parameters such as max=N, the size of the connection pool, schema=NAME and table=NAME`,
      create: 'create the database if it is missing, even if the tokens file exists',
      tokens: `the tokens file. If it is missing, it is created with a token for the user 'me', which is written to
        first-token.txt in its folder`,
      'base-path': 'the path under which clients reach the service, such as /garden',
      'cors-origin': 'the origins whose web pages may call the service, separated by commas, or * for all',
      'trusted-proxies': 'the number of proxies that append to X-Forwarded-For',
      'admin-port': 'the port of /live, /ready and /metrics',
      'admin-host': 'the address of the admin port',
      'drain-delay': `how long the server still accepts connections after a signal, while /ready returns 503 to load
        balancers`,
      log: 'the format of the log on standard error: json or pretty',
      'log-level': 'info, or error for errors only',
      docs: 'serve a web page at /docs to try the service; requires the package swagger-ui-dist',
    },
  },
  'token create': {
    operand: 'USER',
    about: 'Creates a bearer token for USER, and prints it once. A running server accepts it within a second.',
    flags: {
      tokens: 'the tokens file',
      scope: 'the scopes of the token, plants:read or plants:write, separated by commas',
      'expires-in': 'the time until the token expires, a number followed by s, m, h, d or w, such as 30d',
    },
  },
  'token list': {
    about: 'Lists all tokens, but not their values.',
    flags: { tokens: 'the tokens file' },
  },
  'token revoke': {
    operand: 'ID',
    about: `Removes the token with this id. ID can also be the token itself. A running server refuses it within a
      second.`,
    flags: { tokens: 'the tokens file' },
  },
  copy: {
    about: `Copies all plants of all users to another storage. Plants that the target already has are skipped, so an
      interrupted copy can be continued. Nothing is overwritten: if the target has a different plant with the same user
      and id, the conflict is reported, and the exit code is 1.`,
    flags: {
      from: 'the storage to read: sqlite:FILE or postgres://…',
      to: 'the storage to write: sqlite:FILE or postgres://…',
    },
  },
  export: {
    about: `Writes all plants of all users to standard output. Each line is a JSON object:
      {"user":"ada","id":1,"name":"Fern","tag":"indoor"}. The tag is omitted if the plant has none. Ids are exact
      integers, even beyond 2^53.`,
    flags: { storage: 'sqlite:FILE or postgres://…' },
  },
  import: {
    about: `Creates plants from standard input, one JSON object per line, as export writes them. Plants that the
      storage already has are skipped. Nothing is overwritten: if the storage has a different plant with the same user
      and id, the conflict is reported. A line that is not a plant is reported with its number and skipped. In both
      cases the exit code is 1.`,
    flags: { storage: 'sqlite:FILE or postgres://…' },
  },
  backup: {
    operand: 'TARGET',
    about: `Copies a snapshot of the SQLite file of --storage to the new file TARGET. Servers may continue to write. To
      restore the backup, stop the server and run plant-store restore.`,
    flags: { storage: 'sqlite:FILE, the file to copy' },
  },
  restore: {
    operand: 'BACKUP',
    about: `Checks BACKUP, and copies it to the new SQLite file of --storage. Stop all servers first. If the new file
      already exists, restore prints the command that moves it away.`,
    flags: { storage: 'sqlite:FILE, the new file' },
  },
} as const;

export type FlagName = keyof typeof flags;
export type CommandName = keyof typeof commands;

export const commandNames = Object.keys(commands) as CommandName[];

export function flagsOf(name: CommandName): FlagName[] {
  return Object.keys(commands[name].flags) as FlagName[];
}

export const prefix = 'PLANT_STORE_';

/** Returns the names of the variables of a flag. The first one that is set is used. */
export function variablesOf(name: FlagName): string[] {
  const { variable, platform }: Flag = flags[name];
  if (variable === false) return [];
  return [prefix + name.toUpperCase().replaceAll('-', '_'), ...(platform === undefined ? [] : [platform])];
}

/** The columns of a terminal, and the column in which explanations start. */
const [width, indent] = [80, 22];

export function help(): string {
  const rows = Object.entries<Command>(commands).map(([name, { operand = '', about }]) =>
    explained(`${name} ${operand}`, about.replace(/\.\s.*/s, '.')),
  );
  return `Usage: plant-store COMMAND [OPTIONS]

Stores a collection of plants for each user.

Commands:
${rows.join('')}
Options:
${explained('-h, --help', 'show this help, or the help of a command')}${explained('-v, --version', 'show the version')}
In the help of a command, an environment variable in parentheses sets the
default of its option.
`;
}

export function commandHelp(name: CommandName): string {
  const { operand = '', about, flags: texts }: Command = commands[name];
  const rows = flagsOf(name).map((flag) => explainedFlag(flag, texts[flag] ?? ''));
  return `Usage: ${`plant-store ${name} [OPTIONS] ${operand}`.trimEnd()}

${wrapped(about, width).join('\n')}

Options:
${rows.join('')}${explained('-h, --help', 'show this help')}`;
}

function explainedFlag(name: FlagName, text: string): string {
  const { value, fallback, absent }: Flag = flags[name];
  const variables = variablesOf(name).join(', else ');
  if (value === undefined) return explained(`--${name}`, `${text} (${variables}=true)`);
  const usual = fallback ?? absent;
  const notes = [variables, usual === undefined ? 'required' : `default ${usual}`].filter((note) => note !== '');
  return explained(`--${name} ${value}`, `${text} (${notes.join('; ')})`);
}

function explained(label: string, text: string): string {
  const [start, margin] = [`  ${label} `, `\n${' '.repeat(indent)}`];
  const lines = wrapped(text, width - indent).join(margin);
  return `${start.length > indent ? start.trimEnd() + margin : start.padEnd(indent)}${lines}\n`;
}

function wrapped(text: string, columns: number): string[] {
  return text.replace(/\s+/g, ' ').match(new RegExp(`\\S.{0,${columns - 2}}(?= |$)`, 'g')) ?? [];
}
