/**
 * Whose a host name is. A team has to prove an extra one: it leads here and answers what only this platform knows, or its DNS names the
 * team. Names go with their app, for they are kept with it.
 */
import type { App } from '../apps/app.ts';
import { type Caller, isAdmin } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { NameLookup } from './name-lookup.ts';
import type { NameLooks } from './name-looks.ts';

interface HostNameProofDeps {
  readonly lookup: NameLookup;
  readonly looks: Pick<NameLooks, 'answersHere'>;
  readonly domain: string;
  /** Where names are to lead. */
  readonly publicAddress: () => string;
  /** False: names are given to whoever comes first. */
  readonly required: boolean;
}

type Owned = Pick<App, 'teamOwner'>;

const MIN_LABELS = 2;

export class HostNameProof {
  readonly #deps: HostNameProofDeps;

  constructor(deps: HostNameProofDeps) {
    this.#deps = deps;
  }

  /** Throws `cname.unproven` for the first name that is not proven to be the team's. Admins need no proof. */
  async demand(caller: Caller, { teamOwner }: Owned, names: readonly string[]): Promise<void> {
    if (!this.#deps.required || isAdmin(caller)) return;
    const proven = await Promise.all(names.map((name) => this.#isProven(name, teamOwner)));
    const at = proven.indexOf(false);
    const name = names[at];
    if (name === undefined) return;
    const { record, value } = this.#record(name, teamOwner);
    const wanted = `the TXT record ${record} with the value "${value}"`;
    const address = this.#deps.publicAddress();
    const hint = name.startsWith('*.')
      ? `Add ${wanted}, then try again.`
      : `Let ${name} lead to ${address} (an A or AAAA record, or an alias), or add ${wanted}, then try again.`;
    throw new PlatformError('cname.unproven', `It is not proven that ${name} belongs to the team ${teamOwner}.`, {
      hint,
      details: { name, record, value },
    });
  }

  async #isProven(name: string, team: string): Promise<boolean> {
    if (await this.#isNamedInDns(name, team)) return true;
    return !name.startsWith('*.') && this.#deps.looks.answersHere(name);
  }

  /** Whoever has a domain has what is below it, so a record above counts as well. */
  async #isNamedInDns(name: string, team: string): Promise<boolean> {
    const labels = name.replace(/^\*\./, '').split('.');
    for (let from = 0; labels.length - from >= MIN_LABELS; from++) {
      const { record, value } = this.#record(labels.slice(from).join('.'), team);
      const found = await this.#deps.lookup.txt(record);
      if (found.kind === 'found' && found.value.some((text) => text.trim() === value)) return true;
    }
    return false;
  }

  #record(name: string, team: string): { readonly record: string; readonly value: string } {
    return { record: `_tancho.${name.replace(/^\*\./, '')}`, value: `team=${team} platform=${this.#deps.domain}` };
  }
}
