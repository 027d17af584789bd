/** "Why is it not answering?": walks from the host name to the process and names the first thing that is broken. */
import { demand } from '../access.ts';
import type { App } from '../apps/app.ts';
import { hostNamesOf } from '../apps/host-names.ts';
import { demandApp } from '../demand-app.ts';
import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import { type DiagnosisFacts, type FactsDeps, gatherFacts } from './facts.ts';
import type { BrokenLink } from './link.ts';
import { LINKS } from './links.ts';
import { recentDeaths } from './recent-deaths.ts';

export type LinkState = 'holds' | 'broken' | 'not looked at';

export interface Diagnosis {
  /** '' when the address belongs to no app. */
  readonly app: string;
  /** Host name that was asked for. */
  readonly host: string;
  /** Where visitors ask for it; '' when it belongs to no app. */
  readonly url: string;
  /** Whether a real request through the router was answered by the app, without an error. */
  readonly answers: boolean;
  /** True only when it answers and every link holds. */
  readonly well: boolean;
  readonly broken: (BrokenLink & { readonly link: string }) | null;
  readonly links: readonly { readonly link: string; readonly asks: string; readonly state: LinkState }[];
  /** What should be known although it breaks nothing, in sentences. */
  readonly notes: readonly string[];
}

export interface Diagnoses {
  /** Errors: app.not_found, access.denied. */
  ofApp(caller: Caller, app: string): Promise<Diagnosis>;
  /** By a URL or host name as a visitor has it. Errors: input.invalid, access.denied. */
  ofAddress(caller: Caller, address: unknown): Promise<Diagnosis>;
}

const LONGEST_ADDRESS = 2_000;

export function createDiagnoses(deps: FactsDeps): Diagnoses {
  const { store, settings } = deps;

  async function diagnose(caller: Caller, app: App, host?: string): Promise<Diagnosis> {
    demand(caller, 'app.diagnosis', { app });
    return diagnosisOf(await gatherFacts(deps, app, host));
  }

  return {
    ofApp: async (caller, name) => diagnose(caller, await demandApp(store, name)),
    async ofAddress(caller, address) {
      demand(caller, 'app.list');
      const host = hostOf(address);
      const apps = (await store.apps()).filter((app) => !app.removing);
      const wildcard = host.replace(/^[^.]+/, '*');
      const answering =
        apps.find((app) => namesOf(app, settings.domain).includes(host)) ??
        apps.find((app) => namesOf(app, settings.domain).includes(wildcard));
      return answering === undefined ? unknownName(host, settings.domain) : diagnose(caller, answering, host);
    },
  };
}

function diagnosisOf(facts: DiagnosisFacts): Diagnosis {
  let broken: Diagnosis['broken'] = null;
  const links = LINKS.map((link) => {
    if (broken !== null) return { link: link.name, asks: link.asks, state: 'not looked at' as const };
    const found = link.check(facts);
    if (found !== null) broken = { ...found, link: link.name };
    return { link: link.name, asks: link.asks, state: found === null ? ('holds' as const) : ('broken' as const) };
  });
  const { answer } = facts;
  const answers = answer.kind === 'answered' && !answer.isRefusal && answer.status < 500;
  return {
    app: facts.app.name,
    host: facts.host,
    url: facts.url,
    answers,
    well: answers && broken === null,
    broken,
    links,
    notes: notesOf(facts, broken !== null),
  };
}

function notesOf(facts: DiagnosisFacts, isBroken: boolean): string[] {
  const { app, lastDeploy, host, page, fullVolumes, failingDrains } = facts;
  const notes: string[] = [...fullVolumes, ...failingDrains];
  if (!isBroken) notes.push(...recentDeaths(facts));
  if (page !== null && !isBroken) notes.push(`${page.text} ${page.hint}`);
  if (app.release !== null && lastDeploy?.state === 'failed') {
    const why = lastDeploy.error === '' ? (lastDeploy.cause ?? '') : lastDeploy.error;
    notes.push(`The last deploy, ${lastDeploy.id}, failed, so the version before it serves: ${why}`);
  }
  if (app.swappedWith !== null) {
    notes.push(`${app.name} has swapped its address with ${app.swappedWith}: ${host} leads to ${app.name}.`);
  }
  return notes;
}

function namesOf(app: App, domain: string): string[] {
  return hostNamesOf(app, domain).map(({ name }) => name);
}

function unknownName(host: string, domain: string): Diagnosis {
  const [first, ...others] = LINKS;
  const cause = `No app of this platform answers at ${host}.`;
  const command = `Apps answer at <app>.${domain}; for another name: tancho cname add ${host} -a <app>`;
  return {
    app: '',
    host,
    url: '',
    answers: false,
    well: false,
    broken: { link: first?.name ?? 'name', cause, command },
    links: [
      ...(first === undefined ? [] : [{ link: first.name, asks: first.asks, state: 'broken' as const }]),
      ...others.map(({ name, asks }) => ({ link: name, asks, state: 'not looked at' as const })),
    ],
    notes: [],
  };
}

function hostOf(address: unknown): string {
  const text = typeof address === 'string' ? address.trim() : '';
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const host = text === '' || text.length > LONGEST_ADDRESS || !URL.canParse(url) ? '' : new URL(url).hostname;
  if (host !== '') return host.toLowerCase().replace(/\.$/, '');
  throw new PlatformError('input.invalid', 'The address is neither a URL nor a host name.', {
    hint: 'Give for example http://shop.example.com or shop.example.com.',
  });
}
