/** Home, config.yaml, environment -> Config. What cannot be used is a ConfigError; nothing is guessed or skipped. */
import { mkdir, open } from 'node:fs/promises';
import { hostPort } from '../lib/host-port.ts';
import type { Config, Listen } from './config.ts';
import { ConfigError } from './config-error.ts';
import { configPath, configTemplate, type FileValue, parseConfigText, readConfigText } from './file.ts';
import { checkHomeLength, homeOf } from './home.ts';
import { BadValue } from './parsers.ts';
import { SETTINGS, type Setting, type Values } from './schema.ts';
import { databaseInForce, readStatePlace } from './state-place.ts';

/**
 * Creates the home and its config.yaml when they are not there yet. `overrides` win over everything and are not checked.
 * An environment variable that is set to the empty text counts as not set.
 */
export async function loadConfig(env: NodeJS.ProcessEnv, overrides: Partial<Config> = {}): Promise<Config> {
  const home = overrides.home ?? homeOf(env);
  checkHomeLength(home);
  const path = configPath(home);
  const text = (await readConfigText(path)) ?? (await createConfig(home, path));
  const file = await parseConfigText(path, text);
  const { adminEmail, adminPassword, ...values } = valuesOf((setting) => readSetting(setting, env, path, file));
  const databaseUrl = databaseInForce(values.databaseUrl, await readStatePlace(home));
  const admin = { email: adminEmail, password: adminPassword };
  const config: Config = { ...values, databaseUrl, home, admin, ...overrides };
  checkListeners(config);
  checkEngines(config);
  return config;
}

async function createConfig(home: string, path: string): Promise<string> {
  const text = configTemplate();
  try {
    // Where the server is root, apps run as users of their own, and those must reach their code below the home.
    await mkdir(home, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
    const handle = await open(path, 'wx', 0o600);
    try {
      await handle.writeFile(text);
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    // Another server of the same home was faster by a moment; its text is the same.
    if (code === 'EEXIST' && (await readConfigText(path)) !== null) return text;
    throw new ConfigError(
      `TANCHO_HOME: cannot write to ${home} (${code}).`,
      'Choose a directory you own: TANCHO_HOME=/path/to/directory',
      error,
    );
  }
  return text;
}

type Read = <T>(setting: Setting<T>) => T;

function valuesOf(read: Read): Values {
  return {
    apiListen: read(SETTINGS.apiListen),
    edgeListen: read(SETTINGS.edgeListen),
    tlsListen: read(SETTINGS.tlsListen),
    sshListen: read(SETTINGS.sshListen),
    domain: read(SETTINGS.domain),
    apiDomain: read(SETTINGS.apiDomain),
    publicAddress: read(SETTINGS.publicAddress),
    databaseUrl: read(SETTINGS.databaseUrl),
    secretKey: read(SETTINGS.secretKey),
    adminEmail: read(SETTINGS.adminEmail),
    adminPassword: read(SETTINGS.adminPassword),
    registration: read(SETTINGS.registration),
    sessionDays: read(SETTINGS.sessionDays),
    appsPerUser: read(SETTINGS.appsPerUser),
    unitsPerApp: read(SETTINGS.unitsPerApp),
    mailUrl: read(SETTINGS.mailUrl),
    mailFrom: read(SETTINGS.mailFrom),
    metricsOtlpUrl: read(SETTINGS.metricsOtlpUrl),
    metricsOtlpHeaders: read(SETTINGS.metricsOtlpHeaders),
    providersAllow: read(SETTINGS.providersAllow),
    registries: read(SETTINGS.registries),
    insecureRegistries: read(SETTINGS.insecureRegistries),
    imageRegistry: read(SETTINGS.imageRegistry),
    imageBases: read(SETTINGS.imageBases),
    imageBuilder: read(SETTINGS.imageBuilder),
    imageRoots: read(SETTINGS.imageRoots),
    engines: read(SETTINGS.engines),
    processEngine: read(SETTINGS.processEngine),
    ownEdge: read(SETTINGS.ownEdge),
    healers: read(SETTINGS.healers),
    healingIntervalSeconds: read(SETTINGS.healingIntervalSeconds),
    edgeWorkers: read(SETTINGS.edgeWorkers),
    trustedProxies: read(SETTINGS.trustedProxies),
    proxyProtocol: read(SETTINGS.proxyProtocol),
    hstsSeconds: read(SETTINGS.hstsSeconds),
    http2: read(SETTINGS.http2),
    edgeHandoverSeconds: read(SETTINGS.edgeHandoverSeconds),
    edgeDrainSeconds: read(SETTINGS.edgeDrainSeconds),
    certificateAuthority: read(SETTINGS.certificateAuthority),
    acmeDirectory: read(SETTINGS.acmeDirectory),
    acmeFallbackDirectory: read(SETTINGS.acmeFallbackDirectory),
    acmeEmail: read(SETTINGS.acmeEmail),
    acmeExternalAccount: read(SETTINGS.acmeExternalAccount),
    acmeFallbackExternalAccount: read(SETTINGS.acmeFallbackExternalAccount),
    acmeProfile: read(SETTINGS.acmeProfile),
    acmeNewCertificatesPerUser: read(SETTINGS.acmeNewCertificatesPerUser),
    acmeRoots: read(SETTINGS.acmeRoots),
    acmeDnsCommand: read(SETTINGS.acmeDnsCommand),
    acmeDnsPersist: read(SETTINGS.acmeDnsPersist),
    certificateLook: read(SETTINGS.certificateLook),
    dnsServers: read(SETTINGS.dnsServers),
    hostNameProof: read(SETTINGS.hostNameProof),
    isolation: read(SETTINGS.isolation),
    network: read(SETTINGS.network),
    networkAllow: read(SETTINGS.networkAllow),
    unitMemoryBytes: read(SETTINGS.unitMemoryBytes),
    startTimeoutSeconds: read(SETTINGS.startTimeoutSeconds),
    watchSeconds: read(SETTINGS.watchSeconds),
    drainTimeoutSeconds: read(SETTINGS.drainTimeoutSeconds),
    stopGraceSeconds: read(SETTINGS.stopGraceSeconds),
    buildTimeoutSeconds: read(SETTINGS.buildTimeoutSeconds),
    buildMemoryBytes: read(SETTINGS.buildMemoryBytes),
    unitDiskBytes: read(SETTINGS.unitDiskBytes),
    unitFiles: read(SETTINGS.unitFiles),
    repositoryBytes: read(SETTINGS.repositoryBytes),
    diskReserveBytes: read(SETTINGS.diskReserveBytes),
    volumeMaxBytes: read(SETTINGS.volumeMaxBytes),
    buildSlots: read(SETTINGS.buildSlots),
    pushReplaces: read(SETTINGS.pushReplaces),
    ...keptOf(read),
  };
}

/** What is kept, for how long and where. */
function keptOf(read: Read) {
  return {
    logDays: read(SETTINGS.logDays),
    logBytesPerApp: read(SETTINGS.logBytesPerApp),
    logEntriesPerApp: read(SETTINGS.logEntriesPerApp),
    logBytes: read(SETTINGS.logBytes),
    backupDirectory: read(SETTINGS.backupDirectory),
    backupEverySeconds: read(SETTINGS.backupEverySeconds),
    backupKeep: read(SETTINGS.backupKeep),
    eventDays: read(SETTINGS.eventDays),
    events: read(SETTINGS.events),
    deployLogsPerApp: read(SETTINGS.deployLogsPerApp),
    deploysPerApp: read(SETTINGS.deploysPerApp),
    unusedDays: read(SETTINGS.unusedDays),
    toolBytes: read(SETTINGS.toolBytes),
  };
}

function readSetting<T>(
  setting: Setting<T>,
  env: NodeJS.ProcessEnv,
  path: string,
  file: ReadonlyMap<string, FileValue>,
): T {
  const variable = env[setting.variable] ?? '';
  const fromFile = file.get(setting.key);
  const place =
    variable !== '' ? setting.variable : fromFile ? `${path}:${fromFile.line}: ${setting.key}` : setting.key;
  const text = variable !== '' ? variable : (fromFile?.text ?? setting.default);
  try {
    return setting.parse(text);
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    const shown = setting.secret ? '' : `, not "${text}"`;
    throw new ConfigError(`${place} ${error.message}${shown}.`, `Correct it, or remove it for the default.`);
  }
}

/** Two doors on one port would fail later, with a message about neither. */
function checkListeners({ apiListen, edgeListen, sshListen, ownEdge }: Config): void {
  const doors: readonly (readonly [Setting<Listen>, Listen])[] = [
    [SETTINGS.apiListen, apiListen],
    ...(ownEdge ? [[SETTINGS.edgeListen, edgeListen] as const] : []),
    [SETTINGS.sshListen, sshListen],
  ];
  for (const [index, [setting, listen]] of doors.entries()) {
    const twin = doors.slice(0, index).find(([, other]) => other.port !== 0 && hostPort(other) === hostPort(listen));
    if (twin === undefined) continue;
    throw new ConfigError(
      `${twin[0].key} and ${setting.key} are both ${hostPort(listen)}.`,
      `Give one of them another port: ${twin[0].variable} or ${setting.variable}.`,
    );
  }
}

function checkEngines({ engines, processEngine, ownEdge }: Config): void {
  if (processEngine && !ownEdge)
    throw new ConfigError(
      `${SETTINGS.ownEdge.key} is off, and units of this machine are reached by its own edge only.`,
      `Remove ${SETTINGS.ownEdge.variable}; or run the apps in a cluster: ${SETTINGS.processEngine.variable}=off, and ${SETTINGS.engines.variable} (docs/controls.md).`,
    );
  if (processEngine || engines.size > 0) return;
  throw new ConfigError(
    `${SETTINGS.processEngine.key} is off, and no engine is named where apps could run instead.`,
    `Name a cluster: ${SETTINGS.engines.variable}, or remove ${SETTINGS.processEngine.variable}.`,
  );
}
